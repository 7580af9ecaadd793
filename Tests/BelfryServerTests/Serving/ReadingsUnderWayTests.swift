import BelfryModel
import TestKit
import Testing

@testable import BelfryServer

/// A client that asks for pages without end, and does not wait for them, is refused before they fill the memory.
struct ReadingsUnderWayTests {
  @Test func anAccountHasOnlySoManyUnderWay() async throws {
    let readings = ReadingsUnderWay()
    try await fill(readings, ReadingsUnderWay.perAccountMax)
    // All are done: as many are allowed again.
    try await fill(readings, ReadingsUnderWay.perAccountMax)
  }

  /// Each is asked for while the one before is under way.
  private func fill(_ readings: ReadingsUnderWay, _ more: Int) async throws(Refusal) {
    guard more > 0 else {
      let refusal = await #expect(throws: Refusal.self) {
        try await readings.count(as: "mallory") { () async throws(Refusal) in }
      }
      #expect(refusal?.code == .rateLimited)
      #expect(refusal?.retryAfterSeconds == 1)
      try await readings.count(as: "alice") { () async throws(Refusal) in }
      return
    }
    try await readings.count(as: "mallory") { () async throws(Refusal) in try await fill(readings, more - 1) }
  }
}
