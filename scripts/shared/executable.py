"""The executable that a check written in Python plays with: see build.bash, which decides it for all."""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _bash(command):
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f". scripts/shared/build.bash; {command}"], cwd=ROOT, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout.strip()


def debug_executable():
    """BELFRY_EXECUTABLE, or what is built here."""
    return _bash("debug_executable")


def build_debug_modules():
    """What programs in Swift are compiled against, which a BELFRY_EXECUTABLE of another place does not bring."""
    if not os.path.exists(os.path.join(ROOT, ".build", "debug", "Modules", "BelfryClient.swiftmodule")):
        _bash("build_debug --product belfry >&2")
