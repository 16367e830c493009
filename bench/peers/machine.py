"""What a measurement has to say about where it was made."""

from __future__ import annotations

import datetime
import os
import platform
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INSTRUCTION_SETS = ["sse4_2", "avx", "avx2", "fma", "avx512f", "avx512_bf16", "amx_bf16", "asimd", "sve"]


def cores() -> list[int]:
    """One processor of each core that this process may run on: two threads of a core would share its arithmetic."""
    chosen: list[int] = []
    taken: set[str] = set()
    for cpu in sorted(os.sched_getaffinity(0)):
        path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        siblings = path.read_text().strip() if path.exists() else str(cpu)
        if siblings not in taken:
            chosen.append(cpu)
        taken.add(siblings)
    return chosen


def output_of(*command: str | Path) -> str:
    """Standard output; empty where the command fails or is not there."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def processor() -> dict[str, object]:
    info = Path("/proc/cpuinfo").read_text()
    model = re.search(r"^model name\s*: (.*)$", info, re.M)
    flags = re.search(r"^(?:flags|Features)\s*: (.*)$", info, re.M)
    have = set(flags[1].split()) if flags else set()
    family = re.search(r"^cpu family\s*: (\d+)\nmodel\s*: (\d+)$", info, re.M)
    return {
        "processor": model[1] if model else platform.processor(),
        "family and model": f"{family[1]}, {family[2]}" if family else None,
        "cores": len(cores()),
        "instruction sets": [name for name in INSTRUCTION_SETS if name in have],
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
    }


def compiler(build: Path) -> dict[str, str]:
    """What gflow was built with, by the cache of its build folder."""
    cache = build / "CMakeCache.txt"
    found = dict(re.findall(r"^(CMAKE_\w+):\w+=(.*)$", cache.read_text(), re.M)) if cache.exists() else {}
    version = output_of(found.get("CMAKE_CXX_COMPILER", "c++"), "--version").split("\n")[0]
    kind = found.get("CMAKE_BUILD_TYPE", "")
    flags = [found.get("CMAKE_CXX_FLAGS", ""), found.get(f"CMAKE_CXX_FLAGS_{kind.upper()}", "")]
    return {"compiler": version, "flags": " ".join(flags).strip()}


def system() -> str:
    release = Path("/etc/os-release")
    name = re.search(r'^PRETTY_NAME="?([^"\n]*)', release.read_text(), re.M) if release.exists() else None
    return f"{name[1] if name else platform.system()}, Linux {platform.release().split('-')[0]}"


def describe(build: Path, python: str, cpus: list[int], threads: int) -> dict[str, object]:
    pytorch = "import torch; print(torch.__version__.split('+')[0], torch.backends.cpu.get_cpu_capability())"
    revision = output_of("git", "-C", ROOT, "rev-parse", "--short", "HEAD")
    changed = output_of("git", "-C", ROOT, "status", "--porcelain", "--untracked-files=no")
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        **processor(),
        "system": system(),
        "threads": threads,
        "pinned to": cpus,
        "gflow": f"commit {revision}{' with changes' if changed else ''}",
        **compiler(build),
        "PyTorch": output_of(python, "-c", pytorch),
    }
