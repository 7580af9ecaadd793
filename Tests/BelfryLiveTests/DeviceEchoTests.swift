import BelfryLive
import BelfryLoop
import BelfryModel
import BelfryServer
import BelfryStore
import Testing

/// An account's acts on one device are told to its other devices while they happen.
@Suite struct DeviceEchoTests {
  @Test func theOtherDevicesAreTold() async throws {
    let shown = try await play(device: "phone")
    let mute =
      #"{"operation":"mute","of":"group","target":{"accids":["carol"],"groupId":"7"},"device":"phone"}"#
    #expect(shown == ["tablet": [mute], "no device": [mute]])
  }

  /// Done by a trusted caller for the account: none of its devices knows.
  @Test func allDevicesAreToldOfWhatNoneOfThemDid() async throws {
    let shown = try await play(device: nil)
    let mute = #"{"operation":"mute","of":"group","target":{"accids":["carol"],"groupId":"7"}}"#
    #expect(shown == ["tablet": [mute], "phone": [mute], "no device": [mute]])
  }

  /// The data of the device events that each of the streams was sent.
  private func play(device: DeviceID?) async throws -> [String: [String]] {
    try await withLoop { loop, scope in try await Self.play(device, on: loop, scope) }
  }

  private static func play(_ device: DeviceID?, on loop: EventLoop, _ scope: LoopScope) async throws
    -> [String: [String]]
  {
    let store = MemoryStore(limits: Limits())
    let hub = Hub(loop: loop, scope: scope, store: store, live: MemoryLiveFeed(store), limits: Limits())
    let (bob, carol) = (try account("bob"), try account("carol"))
    var streams: [String: Consumer] = [:]
    for (name, account, device) in [
      ("phone", bob, "phone"), ("tablet", bob, "tablet"), ("no device", bob, nil), ("carol", carol, nil),
    ] {
      streams[name] = try hub.openConsumer(
        account: account, device: device.flatMap { DeviceID($0) }, after: nil,
        expiresAtMilliseconds: .max, framing: ServerSentEvents.framing)
    }
    let group = SpaceID.group(EntityID(bits: 14))
    var transaction = Transaction(group)
    transaction.changes[.member(bob, of: group)] = "m 0-0"
    transaction.echo = DeviceEcho(
      account: bob, device: device, operation: OperationName(.group, "mute"),
      target: ["groupId": "7", "accids": ["carol"]])
    // Each has taken its snapshot, and so follows its own space: what is said there now it is shown.
    while hub.statistics.scans < streams.count { try await loop.sleep(for: .milliseconds(1)) }
    _ = try await store.commit(transaction)
    // A last message to everybody: an account that has it was told everything before it.
    for account in [bob, carol] {
      var last = Transaction(.personal(account))
      let content = NotificationContent(type: Catalogue.custom.code, toType: .accounts)
      last.announcements = [Announcement(content, to: Audience(.all))]
      _ = try await store.commit(last)
    }
    var texts: [String: String] = [:]
    while texts.count < streams.count || !texts.values.allSatisfy({ $0.contains("event: notification") }) {
      for (name, consumer) in streams { texts[name, default: ""] += Self.pull(consumer) }
      try await loop.sleep(for: .milliseconds(1))
    }
    for consumer in streams.values { consumer.close() }
    return texts.mapValues { text in
      #expect(!text.contains("event: device\nid:"))
      return text.components(of: "event: device\ndata: ")
    }.filter { !$0.value.isEmpty }
  }

  private static func account(_ name: String) throws -> AccountID { try #require(AccountID(name)) }

  private static func pull(_ consumer: Consumer) -> String {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe bytes.withUnsafeMutableBytes { room in
      var buffer = unsafe StreamBuffer(room)
      _ = consumer.pull(into: &buffer)
      return buffer.count
    }
    return String(decoding: bytes[..<count], as: UTF8.self)
  }
}

extension String {
  /// The rests of the lines after each place where `start` is.
  fileprivate func components(of start: String) -> [String] {
    ranges(of: start).map { String(self[$0.upperBound...].prefix { $0 != "\n" }) }
  }
}
