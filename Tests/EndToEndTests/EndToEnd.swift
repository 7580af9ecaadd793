import Testing

/// The executable itself on a real redis-server, used as people and programs use it. One at a time: each
/// test starts its own processes, and two cores are not many.
@Suite(.serialized) enum EndToEnd {}
