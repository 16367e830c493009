"""data/fetch against a server on this machine: no public address is asked."""

import hashlib
import http.server
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest
import zipfile
from pathlib import Path

FETCH = Path(__file__).resolve().parents[2] / "data" / "fetch"
CONTENT = bytes(i * 7919 % 251 for i in range(300_000))


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


class Server(http.server.ThreadingHTTPServer):
    """Serves `files`; breaks off after `break_after` bytes for the first `breaks` answers; notes what was asked."""

    def __init__(self, files):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.breaks, self.break_after, self.ranges_allowed = files, 0, 0, True
        self.asked = []
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def url(self, path=""):
        return f"http://127.0.0.1:{self.server_address[1]}{path}"


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def do_GET(self):
        server = self.server
        asked = self.headers.get("Range")
        server.asked.append((self.path, asked))
        if self.path not in server.files:
            self.send_error(404)
            return
        data, start = server.files[self.path], 0
        if asked and server.ranges_allowed:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            if start >= len(data):
                self.send_error(416)
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        rest = data[start:]
        if server.breaks:
            server.breaks -= 1
            rest = rest[: server.break_after]
            self.close_connection = True
        self.wfile.write(rest)


class Fetch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.destination = self.folder / "downloads"
        self.server = Server({"/public/words.txt": CONTENT, "/mirror/words/words.txt": CONTENT})
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.entry = {"name": "words.txt", "urls": [self.server.url("/public/words.txt")],
                      "bytes": len(CONTENT), "sha256": sha256(CONTENT)}

    def fetch(self, *arguments, entry=None):
        manifest = self.folder / "manifest.json"
        manifest.write_text(json.dumps({"words": {"title": "Words", "licence": "CC0", "attribution": "nobody",
                                                  "files": [entry or self.entry]}}))
        environment = {**os.environ, "no_proxy": "*", "NO_PROXY": "*"}
        return subprocess.run([sys.executable, FETCH, "--manifest", manifest, "--dest", self.destination, *arguments],
                              capture_output=True, text=True, env=environment, timeout=60)

    def files(self):
        return sorted(path.name for path in self.destination.rglob("*") if path.is_file())

    def assert_fetched(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((self.destination / "words" / "words.txt").read_bytes(), CONTENT)
        self.assertEqual(self.files(), ["words.txt"])

    def assert_refused(self, result, *parts):
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)

    def test_fetches_once(self):
        self.assert_fetched(self.fetch("words"))
        self.assert_fetched(self.fetch("words"))
        self.assertEqual(len(self.server.asked), 1)
        self.assertIn("[fetched]", self.fetch().stdout)

    def test_a_damaged_file_is_fetched_again(self):
        self.fetch("words")
        (self.destination / "words" / "words.txt").write_bytes(CONTENT[:-1] + b"x")
        self.assert_fetched(self.fetch("words"))

    def test_goes_on_within_a_run(self):
        self.server.breaks, self.server.break_after = 2, 100_000
        self.assert_fetched(self.fetch("words"))
        self.assertEqual([asked for _, asked in self.server.asked], [None, "bytes=100000-", "bytes=200000-"])

    def test_goes_on_in_the_next_run(self):
        self.server.breaks, self.server.break_after = 3, 50_000
        self.assert_refused(self.fetch("words"), "broke off", "run the same command again")
        self.assertEqual(self.files(), ["words.txt.part"])
        self.assert_fetched(self.fetch("words"))
        self.assertEqual(self.server.asked[-1][1], "bytes=150000-")

    def test_starts_anew_where_the_server_knows_no_ranges(self):
        self.server.ranges_allowed = False
        self.server.breaks, self.server.break_after = 1, 50_000
        self.assert_fetched(self.fetch("words"))

    def test_a_part_of_another_file_is_dropped(self):
        (self.destination / "words").mkdir(parents=True)
        for part in (b"something else", CONTENT + b"longer"):
            (self.destination / "words" / "words.txt.part").write_bytes(part)
            self.assert_fetched(self.fetch("words"))
            (self.destination / "words" / "words.txt").unlink()

    def test_refuses_a_wrong_file_and_keeps_nothing(self):
        self.server.files["/public/words.txt"] = b"<html>moved</html>"
        self.assert_refused(self.fetch("words"), "sha256", "nothing was kept")
        self.assertEqual(self.files(), [])

    def test_takes_the_second_address(self):
        self.entry["urls"].insert(0, self.server.url("/gone.txt"))
        self.assert_fetched(self.fetch("words"))

    def test_names_every_address_that_failed(self):
        self.entry["urls"] = [self.server.url("/gone.txt"), "http://127.0.0.1:9/words.txt"]
        self.assert_refused(self.fetch("words"), "/gone.txt: HTTP 404", "127.0.0.1:9", "--mirror")

    def test_mirror(self):
        self.assert_fetched(self.fetch("words", "--mirror", self.server.url("/mirror/")))
        self.assertEqual(self.server.asked, [("/mirror/words/words.txt", None)])

    def test_unpacks_what_the_manifest_names(self):
        archive = zipped({"in/words.txt": CONTENT, "in/other.txt": b"other"})
        self.server.files["/public/words.zip"] = archive
        entry = {"name": "words.zip", "urls": [self.server.url("/public/words.zip")], "sha256": sha256(archive),
                 "unpack": {"words.txt": {"member": "in/words.txt", "sha256": sha256(CONTENT)}}}
        self.assert_fetched(self.fetch("words", entry=entry))
        entry["unpack"]["words.txt"] = {"member": "in/other.txt", "sha256": sha256(CONTENT)}
        (self.destination / "words" / "words.txt").unlink()
        self.assert_refused(self.fetch("words", entry=entry), "in/other.txt", "not the published file")
        self.assertFalse((self.destination / "words" / "words.txt").exists())

    def test_unknown_name(self):
        result = self.fetch("nothing")
        self.assertEqual(result.returncode, 2)
        self.assertIn("choose from words", result.stderr)

    def test_a_destination_that_cannot_be_made(self):
        self.destination.write_text("a file")
        self.assert_refused(self.fetch("words"), "--dest")

    def test_the_real_manifest_is_complete(self):
        manifest = json.loads((FETCH.parent / "manifest.json").read_text())
        self.assertEqual(sorted(manifest), ["bert-vocab", "distilbert", "snli", "wikitext-2"])
        for data_set in manifest.values():
            self.assertTrue(data_set["licence"] and data_set["attribution"])
            for entry in data_set["files"]:
                self.assertRegex(entry["sha256"], "^[0-9a-f]{64}$")
                self.assertTrue(all(url.startswith("https://") for url in entry["urls"]))


if __name__ == "__main__":
    unittest.main()
