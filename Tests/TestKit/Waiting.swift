package import BelfryLoop

/// Waits until something holds, for as long as a busy machine may need. A condition that fails does not hold yet.
///
/// - Parameter otherwise: what is wrong if it does not come to that.
/// - Throws: that, or what the condition failed with in the end.
package func eventually(
  _ otherwise: String = "it has not come to that", within limit: Duration = .seconds(60),
  every pause: Duration = .milliseconds(2), isolation: isolated (any Actor)? = #isolation,
  _ holds: () async throws -> Bool
) async throws {
  let deadline = ContinuousClock.now + limit
  while true {
    var failure: any Error = FixtureError(otherwise)
    do {
      if try await holds() { return }
    } catch {
      failure = error
    }
    guard ContinuousClock.now < deadline else { throw failure }
    try await Task.sleep(for: pause)
  }
}

/// Gives the body a loop that runs on a thread of its own, and ends it afterwards, even if the body throws.
package func withLoop<R>(
  named name: String = "test", isolation: isolated (any Actor)? = #isolation,
  _ body: (EventLoop) async throws -> R
) async throws -> R {
  let loop = try EventLoop(name: name)
  try loop.spawnThread()
  defer {
    loop.stop()
    loop.join()
  }
  return try await body(loop)
}
