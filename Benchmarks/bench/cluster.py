"""Nodes of a Redis Cluster, or a Redis with replicas: what each costs, not what becomes of a fault."""

import time

from . import machine
from .failure import Failure
from .processes import Process, free_port
from .redis import Client, Redis
from .setting import Run

SLOTS = 16_384


class Node:
    def __init__(self, run: Run, *options: str):
        # The nodes' own port is 10,000 higher.
        self.port = next(port for port in iter(free_port, None) if port < 55_000)
        folder = run.new_folder("node")
        self.process = Process(
            "redis-server",
            [machine.program("redis-server"), "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(folder)]
            + ["--save", "", *Redis.DURABLE, *options],
            log=folder / "log",
            cores={run.server_core},
        )
        self.process.wait_for_port(self.port)
        self.client = Client(port=self.port)


class Nodes:
    """A single Redis, perhaps with replicas, or so many masters that share the slots."""

    def __init__(self, run: Run, masters: int | None, replicas: int = 0):
        count = masters or 1
        self.nodes = [Node(run, *(["--cluster-enabled", "yes"] if masters else [])) for _ in range(count)]
        if masters:
            self._join()
        self.nodes += [self._replica(run) for _ in range(replicas)]

    def _replica(self, run: Run) -> Node:
        replica = Node(run, "--replicaof", f"127.0.0.1 {self.nodes[0].port}", "--repl-diskless-sync-delay", "0")
        deadline = time.monotonic() + 20
        while "master_link_status:up" not in replica.client.call("INFO", "replication").decode():
            if time.monotonic() > deadline:
                raise Failure("the replica does not find its master")
            time.sleep(0.1)
        return replica

    def _join(self) -> None:
        first, count = self.nodes[0], len(self.nodes)
        for number, node in enumerate(self.nodes):
            begin, end = number * SLOTS // count, (number + 1) * SLOTS // count - 1
            node.client.call("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
            node.client.call("CLUSTER", "ADDSLOTSRANGE", begin, end)
            if node is not first:
                node.client.call("CLUSTER", "MEET", "127.0.0.1", first.port)
        deadline = time.monotonic() + 20
        while not all(self._is_whole(node) for node in self.nodes):
            if time.monotonic() > deadline:
                raise Failure("the nodes do not become a cluster")
            time.sleep(0.1)

    def _is_whole(self, node: Node) -> bool:
        info = node.client.call("CLUSTER", "INFO").decode()
        return "cluster_state:ok" in info and f"cluster_known_nodes:{len(self.nodes)}" in info

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.nodes[0].port}"

    @property
    def processes(self) -> list[int]:
        return [node.process.id for node in self.nodes]

    def spent_seconds(self) -> list[float]:
        return [machine.spent_seconds([process]) for process in self.processes]

    def function_calls(self) -> tuple[int, float]:
        """Of all nodes: how many, and the microseconds in them."""
        calls, microseconds = 0, 0.0
        for node in self.nodes:
            for line in node.client.call("INFO", "commandstats").decode().splitlines():
                if line.startswith("cmdstat_fcall:"):
                    fields = dict(field.split("=") for field in line.split(":")[1].split(","))
                    calls, microseconds = calls + int(fields["calls"]), microseconds + float(fields["usec"])
        return calls, microseconds

    def info(self, name: str) -> int:
        return sum(node.client.info(name) for node in self.nodes)

    def stop(self) -> None:
        for node in self.nodes:
            node.process.stop()
