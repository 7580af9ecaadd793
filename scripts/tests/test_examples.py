"""What examples/curl.sh prints, against a server that answers or refuses."""
import http.server
import os
import subprocess
import tempfile
import threading
import unittest

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "curl.sh")


class Answers(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        is_known = self.headers["Authorization"] == "Bearer known"
        body = b'{"messageServerId":"7","read":0}' if is_known else b'{"status":401,"code":"unauthorized","detail":"no"}'
        self.send_response(201 if is_known else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class CurlExample(unittest.TestCase):
    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        with open(os.path.join(self.folder.name, "cursor.last"), "w", encoding="ascii") as file:
            file.write("5\n")

    def run_example(self, token, *arguments):
        environment = {
            **os.environ, "BELFRY_URL": f"http://127.0.0.1:{self.server.server_port}", "BELFRY_TOKEN": token,
            "CURSOR": os.path.join(self.folder.name, "cursor")}
        return subprocess.run([EXAMPLE, *arguments], env=environment, capture_output=True, text=True, check=False)

    def test_what_was_done_is_printed(self):
        for arguments, printed in ((["send", "bob", "x"], "7\n"), (["read"], "0\n")):
            done = self.run_example("known", *arguments)
            self.assertEqual((done.returncode, done.stdout), (0, printed))

    def test_a_refusal_says_why_and_prints_nothing(self):
        for arguments in (["send", "bob", "x"], ["read"]):
            refused = self.run_example("unknown", *arguments)
            self.assertEqual(refused.stdout, "")
            self.assertIn('"code":"unauthorized"', refused.stderr)
            self.assertNotEqual(refused.returncode, 0)


if __name__ == "__main__":
    unittest.main()
