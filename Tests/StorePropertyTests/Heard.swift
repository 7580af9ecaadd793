import BelfryModel
import BelfryStore
import ModelSamples

/// The messages of a live feed since it was last asked.
final class Heard {
  /// An account that nothing else happens to. A message to it marks the end of all earlier messages.
  static let witness: AccountID = "witness"

  private let feed: any LiveFeed
  private var messages: [(space: SpaceID, message: LiveMessage)] = []

  init(_ feed: any LiveFeed) {
    self.feed = feed
    feed.onMessage = { [weak self] space, message in self?.messages.append((space, message)) }
  }

  func subscribe(_ spaces: [SpaceID]) async throws {
    for space in spaces + [.personal(Self.witness)] { try await feed.subscribe(space) }
  }

  /// All that was said before this call; it may still be on its way.
  func take(from store: any Store) async throws -> [(space: SpaceID, message: LiveMessage)] {
    _ = try await store.markRead(ReadMark(items: []), by: Self.witness)
    let deadline = ContinuousClock.now + .seconds(60)
    while messages.last?.space != .personal(Self.witness) {
      guard ContinuousClock.now < deadline else { throw Broken("the live feed has gone silent") }
      try await Task.sleep(for: .milliseconds(1))
    }
    defer { messages = [] }
    return messages.dropLast()
  }
}

extension World {
  /// The messages of the live feed, as lines: space by space, since there is an order only within a
  /// partition.
  func heardLines() async throws -> [String] {
    let all = try await heard.take(from: store)
    try checkOrder(all.map(\.message))
    let said = Dictionary(grouping: all, by: \.space)
    let spaces = said.keys.sorted { $0.key < $1.key }
    // If its answer was lost, a notification that is not stored is known from here only.
    for case (_, .ephemeral(let entry)) in spaces.flatMap({ said[$0] ?? [] }) { learn(entry.id) }
    // Nor is anybody told the ids of those that say what others have become.
    for case (_, .appended(let entry, _)) in spaces.flatMap({ said[$0] ?? [] }) where entry.updates != nil {
      learn(entry.id)
    }
    return try spaces.flatMap { space in
      try (said[space] ?? []).enumerated().map { place, said in
        "\(space) said \(place): \(try words(said.message))"
      }
    }
  }

  /// A consumer has one place in a partition: what is heard after a later id of another space, it never looks for.
  private func checkOrder(_ messages: [LiveMessage]) throws {
    var last: [Partition: MessageID] = [:]
    for case .appended(let entry, _) in messages {
      guard entry.id > last[entry.id.partition] ?? .zero else {
        throw Broken("\(entry.id) was heard after a later one of its partition")
      }
      last[entry.id.partition] = entry.id
    }
  }

  private func words(_ message: LiveMessage) throws -> String {
    switch message {
    case .appended(let entry, let predecessor):
      "\(try words(entry)) appended after \(predecessor == .zero ? "none" : try words(predecessor))"
    case .ephemeral(let entry): "\(try words(entry)) ephemeral"
    case .memberships(let accounts): "memberships of \(accounts)"
    case .read(let echo):
      "read \(try echo.items.map(words)) up to \(echo.watermarks.isEmpty ? "" : "watermarks")"
        + " on \(echo.device?.text ?? "none")"
    case .index: "index"
    case .device(let echo):
      "\(echo.account) did \(echo.operation) to \(RecordJSON.text(echo.target))"
        + " on \(echo.device?.text ?? "none")"
    case .ended(let streams): "ended \(streams.ids): \(streams.why)"
    }
  }

  func words(_ entry: LogEntry) throws -> String {
    let update = entry.updateTime == nil ? "" : " updated"
    let updated = try entry.updates.map { ", updated \(try words($0))" } ?? ""
    var audience = entry.audience
    audience.expiresAt = nil
    let until = entry.audience.expiresAt == nil ? "" : " until a time"
    let content = entry.isRecalled ? "recalled" : try timeless(entry.contentJSON)
    return "\(try words(entry.id)) to \(audience.text)\(until)\(update)\(updated): \(content)"
  }
}
