"""Where things lie: docs/redis-layout.md."""

PARTITIONS = 64
SLOTS_OF_EACH = 16_384 // PARTITIONS


def partition(account: str) -> int:
    """Of an account: FNV-1a of its space's name."""
    hash = 0xCBF29CE484222325
    for byte in f"account:{account}".encode():
        hash = (hash ^ byte) * 0x100000001B3 % 2**64
    return hash % PARTITIONS


def partitions_of(id: str, *accounts: str) -> set[int]:
    """Of a notification, and of those who receive it."""
    return {int(id) >> 12 & 1_023, *map(partition, accounts)}


def partitions_in(slots: tuple[tuple[int, int], ...]) -> frozenset[int]:
    """That lie in these ranges of slots, in part perhaps."""
    return frozenset(
        place for first, last in slots for place in range(first // SLOTS_OF_EACH, last // SLOTS_OF_EACH + 1)
    )
