import Testing

/// The executable itself on a real redis-server, used as people and programs use it. The tests run one at a
/// time, because each starts its own processes, and two cores are not many.
@Suite(.serialized) enum EndToEnd {}
