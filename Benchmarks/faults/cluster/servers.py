"""A Redis Cluster on this machine: what is done to its nodes and its slots, and when all is well with it."""

import asyncio
import contextlib
from dataclasses import dataclass
from pathlib import Path

from bench.failure import Failure

from ..machinery.ports import held_port
from ..machinery.servers import ReplicatedServer, converge, wait_until
from .network import Network, Ways

SLOTS = 16_384
NODE_TIMEOUT_SECONDS = 2.0
# A failover that did not come about is given up by Redis after five seconds.
REPEATED_AFTER_SECONDS = 6.0


@dataclass
class Row:
    """A line of CLUSTER NODES."""

    id: str
    port: int
    flags: set[str]
    master: str
    epoch: int
    slots: tuple[tuple[int, int], ...]

    @property
    def part(self) -> tuple:
        """What all agree on when they have heard of everything."""
        return ("master" in self.flags, self.master, self.slots)


def rows(text: str) -> list[Row]:
    found = []
    for line in text.splitlines():
        id, address, flags, master, _, _, epoch, _, *slots = line.split()
        # A slot on the move stands in brackets besides.
        ranges = [tuple(map(int, slot.split("-"))) for slot in slots if not slot.startswith("[")]
        port = int(address.split("@")[0].rsplit(":", 1)[1])
        found.append(
            Row(id, port, set(flags.split(",")), master, int(epoch), tuple((each[0], each[-1]) for each in ranges))
        )
    return found


class Node(ReplicatedServer):
    def __init__(self, number: int, folder: Path, library: Path, settings: list[Path], *, needs_replica: bool):
        super().__init__(folder, library, settings, needs_replica=needs_replica)
        self.name = f"redis-{self.port}"
        self.bus_port = held_port()
        self.id = ""
        self.ways = Ways(number, self.port, self.bus_port)

    def command(self) -> list[str]:
        return super().command() + [
            *("--cluster-port", str(self.bus_port)),
            *("--cluster-node-timeout", str(int(NODE_TIMEOUT_SECONDS * 1000))),
            *self.ways.options,
        ]

    async def start(self) -> None:
        await super().start()
        self.id = self.call("CLUSTER", "MYID").decode()

    def rows(self) -> list[Row]:
        return rows(self.call("CLUSTER", "NODES").decode())

    def own(self) -> Row:
        return next(row for row in self.rows() if "myself" in row.flags)

    def replication(self) -> dict[str, str]:
        lines = self.call("INFO", "replication").decode().splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)


class RedisCluster:
    """Masters with a replica each."""

    def __init__(self, folder: Path, library: Path, settings: list[Path], masters: int, *, needs_replicas: bool):
        self.master_count = masters
        numbers = range(1, 2 * masters + 1)
        self.nodes = [
            Node(number, folder / f"redis-{number}", library, settings, needs_replica=needs_replicas)
            for number in numbers
        ]
        self.network = Network()
        self.network.ways = [node.ways for node in self.nodes]

    @property
    def servers(self) -> list[Node]:
        return self.nodes

    @property
    def answering(self) -> list[Node]:
        return [node for node in self.nodes if node.is_answering]

    def port_for(self, broker: int) -> int:
        """Of the node that a broker is told of."""
        return self.nodes[broker % len(self.nodes)].ways.front.port

    # --- Beginning ----------------------------------------------------------------------------------------

    async def start(self) -> None:
        await self.network.start()
        await asyncio.gather(*(node.start() for node in self.nodes))
        await asyncio.to_thread(self._join)
        for master, replica in zip(self.nodes, self.nodes[self.master_count :]):
            await wait_until(lambda: self._replicates(replica, master), 30, f"{replica.name} knows its master")
        await self.converge()

    def _join(self) -> None:
        first = self.nodes[0]
        for number, master in enumerate(self.nodes[: self.master_count]):
            low, high = (SLOTS * place // self.master_count for place in (number, number + 1))
            master.call("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
            master.call("CLUSTER", "ADDSLOTSRANGE", low, high - 1)
        for node in self.nodes[1:]:
            first.call("CLUSTER", "MEET", "127.0.0.1", node.ways.front.port, node.ways.bus.port)

    def _replicates(self, replica: Node, master: Node) -> bool:
        try:
            return replica.call("CLUSTER", "REPLICATE", master.id) == b"OK"
        except Failure:
            return False

    async def stop(self) -> None:
        """After the nodes have ended."""
        await self.network.stop()

    # --- Agreeing -----------------------------------------------------------------------------------------

    async def converge(self) -> None:
        """Until the nodes that answer agree, serve every slot, and replicate."""
        await converge(self.obstacle, "the cluster has converged")

    def obstacle(self) -> str:
        answering = self.answering
        tables = {node.id: {row.id: row for row in node.rows()} for node in answering}
        reference = tables[answering[0].id]
        for node in answering:
            table = tables[node.id]
            for other in answering:
                row = table.get(other.id)
                if not row or row.flags & {"fail", "fail?"}:
                    return f"{node.name} misses {other.name}"
                if row.part != reference[other.id].part:
                    return f"{node.name} and {answering[0].name} do not agree on {other.name}"
            if b"cluster_state:ok" not in node.call("CLUSTER", "INFO"):
                return f"{node.name} does not serve"
        own = [tables[node.id][node.id] for node in answering]
        served = sum(last - first + 1 for row in own if "master" in row.flags for first, last in row.slots)
        if served != SLOTS:
            return f"{served} slots are served"
        for node, row in zip(answering, own):
            facts = node.replication()
            if "master" in row.flags:
                online = sum("state=online" in fact for fact in facts.values())
                if facts["role"] != "master" or online != sum(one.master == row.id for one in own):
                    return f"{node.name} has {online} replicas in step"
            elif facts.get("master_link_status") != "up":
                return f"{node.name} is not linked"
        return ""

    def masters(self) -> list[Node]:
        """That serve slots, and have a replica that answers."""
        followed = {node.own().master for node in self.answering}
        return [node for node in self.answering if node.id in followed and node.own().slots]

    def replica_of(self, master: Node) -> Node:
        return next(node for node in self.answering if node.own().master == master.id)

    def acting_master(self, node: Node) -> Node:
        """The node, or the master that it follows now."""
        if node.is_master():
            return node
        followed = node.own().master
        return next(one for one in self.nodes if one.id == followed)

    def owner(self, slot: int) -> Node:
        claims = [(node.own(), node) for node in self.answering]
        owners = [
            (row.epoch, row.port, node)
            for row, node in claims
            if "master" in row.flags and any(first <= slot <= last for first, last in row.slots)
        ]
        if not owners:
            raise Failure(f"nobody serves slot {slot}")
        return max(owners)[2]

    # --- Changing roles -----------------------------------------------------------------------------------

    async def fail_over(self, replica: Node, *how: str) -> None:
        """Until the replica is master, and the master, if it answers, a replica."""
        master = next(node for node in self.nodes if node.id == replica.own().master)
        loop, asked = asyncio.get_running_loop(), 0.0

        def is_done() -> bool:
            nonlocal asked
            if replica.is_master():
                return not (master.is_answering and master.is_master())
            if loop.time() > asked + REPEATED_AFTER_SECONDS:
                with contextlib.suppress(Failure):
                    replica.call("CLUSTER", "FAILOVER", *how)
                    asked = loop.time()
            return False

        await wait_until(is_done, 40, f"{replica.name} is master")

    async def taken_over(self, replica: Node) -> None:
        await wait_until(replica.is_master, 40, f"{replica.name} is master by itself")

    async def replicated(self, master: Node) -> None:
        def has_replica() -> bool:
            return any("state=online" in fact for fact in master.replication().values())

        await wait_until(has_replica, 40, f"{master.name} has a replica in step")

    # --- Moving slots -------------------------------------------------------------------------------------

    def slots_in_use(self, node: Node) -> list[int]:
        """That hold keys."""
        return [
            slot
            for first, last in node.own().slots
            for slot in range(first, last + 1)
            if node.call("CLUSTER", "COUNTKEYSINSLOT", slot)
        ]

    def begin_moving(self, slot: int, source: Node, target: Node) -> None:
        target.call("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id)
        source.call("CLUSTER", "SETSLOT", slot, "MIGRATING", target.id)

    def move_keys(self, slot: int, source: Node, target: Node, count: int) -> int:
        keys = source.call("CLUSTER", "GETKEYSINSLOT", slot, count)
        if keys:
            source.call("MIGRATE", "127.0.0.1", target.port, "", 0, 10_000, "REPLACE", "KEYS", *keys, seconds=15)
        return len(keys)

    def finish_moving(self, slot: int, target: Node) -> None:
        """The target first: were it last, and failed before, the slot would be nobody's."""
        others = [node for node in self.answering if node is not target and "master" in node.own().flags]
        for node in [target, *others]:
            node.call("CLUSTER", "SETSLOT", slot, "NODE", target.id)

    # --- Looking ------------------------------------------------------------------------------------------

    ids_include_read = False

    def ids(self) -> set[str]:
        """The notifications that are in a log."""
        masters = [node for node in self.answering if node.is_master()]
        return set().union(*(node.ids_in_logs() for node in masters))
