"""The listings of README.md and docs/ compile, run and stay true: a reader gets what is printed."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(os.environ["GFLOW_SOURCE_DIR"])
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)


def run_listing(code: str, folder: Path) -> str:
    source = folder / "listing.cpp"
    source.write_text(code, encoding="utf-8")
    flags = os.environ.get("GFLOW_EIGEN_FLAGS", "").split()
    compiler = os.environ.get("CXX", "c++")
    command = [compiler, "-std=c++20", "-O1", "-Wall", "-Wextra", f"-I{ROOT}/include", *flags, source, "-pthread"]
    subprocess.run([*command, "-o", folder / "listing"], check=True)
    return subprocess.run([folder / "listing"], check=True, capture_output=True, text=True).stdout


def main() -> int:
    faults = []
    readme = ROOT / "README.md"
    listings = [(page, code) for page in PAGES for code in blocks(page, "cpp") if "int main()" in code]
    if not listings or listings[0][0] != readme:
        faults.append("README.md: its first listing should be a whole program")
    elif listings[0][1] != (ROOT / "examples/hello_autograd.cpp").read_text(encoding="utf-8"):
        faults.append("README.md: its first listing and examples/hello_autograd.cpp should be the same")
    with tempfile.TemporaryDirectory() as folder:
        for number, (page, code) in enumerate(listings):
            output = run_listing(code, Path(folder))
            print(f"{page.name}, listing {number + 1}:\n{output}")
            losses = [float(x) for x in re.findall(r"loss ([0-9.]+)", output)]
            least_fall = 20 if page == readme else 8  # 500 steps with dropout do not take a classifier further
            if losses and not losses[-1] < losses[0] / least_fall:
                faults.append(f"{page.name}: the loss of listing {number + 1} should fall; it goes {losses}")
            if not output:
                faults.append(f"{page.name}: listing {number + 1} prints nothing")
    usage = subprocess.run([ROOT / "gflow", "--help"], check=True, capture_output=True, text=True).stdout
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for command in re.findall(r"^\s*\./gflow (\w+)", text, re.M):
            if not re.search(rf"^  {command}\b", usage, re.M):
                faults.append(f"{page.name}: ./gflow has no command {command}")
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
        for target in re.findall(r"\]\(((?!https?:)[^)#]+)\)", prose):
            if not (page.parent / target).exists():
                faults.append(f"{page.name}: the link to {target} leads nowhere")
        binaries = Path(os.environ["GFLOW_BIN_DIR"])
        for program, arguments in re.findall(r"^build/bin/(\w+) (.*)$", text, re.M):
            if not (binaries / program).exists():
                print(f"skipped: {program} is not built here")
                continue
            help_text = subprocess.run([binaries / program, "--help"], check=True, capture_output=True, text=True).stdout
            for option in re.findall(r"(--[a-z0-9-]+)", arguments):
                if option not in help_text:
                    faults.append(f"{page.name}: {program} has no option {option}")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
