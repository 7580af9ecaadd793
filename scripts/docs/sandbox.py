"""A place where a page's commands run as they stand, and nothing that they do outlives them: network, mounts and a copy of
the repository of their own. What they write to /etc, /var, /tmp and /usr/local is gone with it."""
import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys

OVERLAID = ("/etc", "/var", "/usr/local", "/tmp")


def command(arguments):
    """The command by which the arguments run with namespaces of their own."""
    return ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "--", *arguments]


def is_possible():
    return subprocess.run(command(["true"]), capture_output=True).returncode == 0


def enter(folder, root):
    """Within the namespaces: brings the loopback up, lays the mounts, and returns the copy of the repository."""
    with socket.socket() as any_socket:
        up_and_running = struct.pack("16sh14x", b"lo", 0x1 | 0x40)
        fcntl.ioctl(any_socket, 0x8914, up_and_running)     # SIOCSIFFLAGS
    layers = os.path.join(folder, "layers")
    os.makedirs(layers)
    run("mount", "-t", "tmpfs", "tmpfs", layers)
    for place in OVERLAID:
        upper, work = (os.path.join(layers, place.strip("/").replace("/", "-"), kind) for kind in ("upper", "work"))
        os.makedirs(upper)
        os.makedirs(work)
        run("mount", "-t", "overlay", "overlay", "-o", f"lowerdir={place},upperdir={upper},workdir={work}", place)
    copy = os.path.join(folder, "belfry")
    files = subprocess.run(
        # As root in somebody's clone.
        ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True, capture_output=True, text=True).stdout.split("\0")
    for file in filter(None, files):
        if os.path.isfile(os.path.join(root, file)):
            os.makedirs(os.path.dirname(os.path.join(copy, file)), exist_ok=True)
            shutil.copy2(os.path.join(root, file), os.path.join(copy, file))
    return copy


def run(*arguments):
    done = subprocess.run(arguments, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: {done.stderr.strip()}")
