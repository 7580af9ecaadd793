import BelfryModel
import Foundation
import TestKit
import Testing

/// Plays acts against a broker and watches every device of the whole cast.
///
/// All streams stay open throughout. Ids show which notifications belong to an act: they are made from
/// Redis's clock, and each act has some milliseconds of its own. The order on a device does not matter,
/// because spaces have no order among each other.
final class AudienceScenario {
  private let stage: Stage
  let redis: RedisServer
  private let app: Person
  private(set) var people: [String: Person] = [:]
  private var streams: [(account: String, device: String, stream: EventStream)] = []
  /// The values of the names in braces in the present act.
  private var names: [String: String] = [:]
  private var marks = 0
  private var played: [(name: String, ids: Range<MessageID>, expected: [String: [Int]])] = []

  /// - Parameter watches: false if nobody needs to receive anything.
  init(_ stage: Stage, in world: World, watches: Bool = true) throws {
    self.stage = stage
    redis = world.redis
    let broker = world[0]
    app = try Person.app(at: broker)
    for (account, devices) in stage.cast {
      people[account] = try Person(account, device: devices[0], at: broker)
      for device in devices where watches {
        let stream = try Person(account, device: device, at: broker).stream()
        streams.append((account, device, stream))
      }
    }
  }

  func close() { for (_, _, stream) in streams { stream.cut() } }

  // MARK: Playing

  func play(_ act: Act, _ heard: [Heard]) async throws {
    try await prepare(act)
    let start = try await boundary()
    try say(act.line)
    try await untilRelayed()
    let ids = try await start..<boundary()
    let expected = expectation(heard)
    for (account, device, stream) in streams {
      let wanted = expected[account] ?? []
      let arrived = stream.wait { self.types(in: $0, ids).count >= wanted.count }
      #expect(arrived, "\(act.testDescription): \(account) on \(device) misses some of \(wanted)")
    }
    try mark()
    played.append((act.testDescription, ids, expected))
    for (account, device, stream) in streams {
      let heard = types(in: stream.all, ids)
      #expect(
        heard == expected[account] ?? [], "\(act.testDescription): what \(account) hears on \(device)")
      checkAttachments(stream, ids)
    }
    try explain(act, ids)
  }

  /// Checks all acts once more in the end, because a device may have received a notification too late to be
  /// seen before.
  func checkAll() {
    for (name, ids, expected) in played {
      for (account, device, stream) in streams {
        let heard = types(in: stream.all, ids)
        #expect(heard == expected[account] ?? [], "\(name): what \(account) hears on \(device) in the end")
      }
    }
  }

  /// Prepares an act, and waits until other partitions have it too, which are written after the answer.
  func prepare(_ act: Act) async throws {
    names = [:]
    for line in stage.setUp + act.before { try say(line) }
    try await untilRelayed()
  }

  private func untilRelayed() async throws {
    try await eventually("the outboxes are not emptied") { try Writes(redis).waiting == 0 }
  }

  /// An id between those of all earlier writes and all later ones.
  private func boundary() async throws -> MessageID {
    func milliseconds() throws -> Int64 {
      let words = try redis.command("TIME").split(separator: "\n").compactMap { Int64($0) }
      try #require(words.count == 2)
      return words[0] * 1_000 + words[1] / 1_000
    }
    let before = try milliseconds()
    try await eventually("Redis's clock stands still") { try milliseconds() > before }
    return MessageID(firstAtUnixMilliseconds: before + 1)
  }

  /// On a busy machine Redis may leave a broker without an answer for a while. A person who is told to try
  /// again does so.
  func ask(_ person: Person, _ line: Line) throws -> Answer {
    for _ in 0..<20 {
      let answer = try person.call(line.method, fill(line.path), json: line.body.map { fill($0) })
      guard answer.status == 503 else { return answer }
      Thread.sleep(forTimeInterval: 0.2)
    }
    return try person.call(line.method, fill(line.path), json: line.body.map { fill($0) })
  }

  @discardableResult
  private func say(_ line: Line) throws -> Answer {
    let speaker = line.by == "app" ? app : try #require(people[line.by])
    let answer = try ask(speaker, line)
    try #require(
      (200...299).contains(answer.status), "\(line.by) \(line.method) \(fill(line.path)): \(answer)")
    if let name = line.name {
      // A thing inside a space is answered with the space's id as well. The innermost id comes first.
      let ids = ["code", "fileId", "channelId", "serverId", "groupId", "roomId"].compactMap { answer[$0] }
      names[name] = ids.first
    }
    return answer
  }

  private func expectation(_ heard: [Heard]) -> [String: [Int]] {
    var expected: [String: [Int]] = [:]
    for notification in heard {
      for account in notification.accounts { expected[account, default: []].append(notification.type) }
    }
    return expected.mapValues { $0.sorted() }
  }

  /// Sends everybody a mark and waits until all have it. Until then the test watches the accounts that must
  /// not receive anything.
  private func mark() throws {
    marks += 1
    let text = "mark \(marks)"
    try app.mustSend(text, ["toAccids": people.keys.sorted()])
    for (account, device, stream) in streams {
      try #require(stream.wait(forBody: text), "\(account) on \(device) is not reached")
    }
  }

  private func notifications(
    _ events: [EventStream.Event], _ ids: Range<MessageID>
  ) -> [EventStream.Event] {
    events.filter { event in
      event.name == "notification"
        && event.messageServerId.flatMap { MessageID($0) }.map { ids.contains($0) } ?? true
    }
  }

  private func types(in events: [EventStream.Event], _ ids: Range<MessageID>) -> [Int] {
    notifications(events, ids).compactMap(\.type).sorted()
  }

  /// The details are those that the catalogue names for the type.
  private func checkAttachments(_ stream: EventStream, _ ids: Range<MessageID>) {
    for event in notifications(stream.all, ids) {
      guard let type = event.type.flatMap({ Catalogue.type($0) }), type.code != Catalogue.custom.code else {
        continue
      }
      let fields = (event.object["attach"] as? [String: Any])?.keys.sorted() ?? []
      #expect(fields == type.attach.sorted(), "the details of \(type.code)")
    }
  }

  // MARK: Asking why

  /// For every notification of the act and everybody, `explain` must match what their devices saw.
  private func explain(_ act: Act, _ ids: Range<MessageID>) throws {
    var receivers: [String: Set<String>] = [:]
    for (account, _, stream) in streams {
      for event in notifications(stream.all, ids) {
        if let id = event.messageServerId { receivers[id, default: []].insert(account) }
      }
    }
    for (id, accounts) in receivers {
      for account in stage.cast.keys {
        let answer = try app.call("GET", "/v1/notifications/\(id)/explain?account=\(account)")
        #expect(
          answer.object["visible"] as? Bool == accounts.contains(account),
          "\(act.testDescription): why \(account) sees \(id) or not: \(answer)")
      }
    }
  }

  // MARK: Names

  private func fill(_ value: JSONValue) -> JSONValue {
    switch value {
    case .string(let text): .string(fill(text))
    case .array(let values): .array(values.map(fill))
    case .object(let members): .object(members.mapValues(fill))
    default: value
    }
  }

  private func fill(_ text: String) -> String {
    var filled = text
    for (name, id) in names { filled = filled.replacingOccurrences(of: "{\(name)}", with: id) }
    // {invitation:zoe}: the id of zoe's invitation.
    for match in filled.matches(of: /\{([a-zA-Z]+):([a-z]+)(?:@([a-z]+))?\}/) {
      let channel = match.3.flatMap { names[String($0)] }
      filled = filled.replacingOccurrences(
        of: String(match.0), with: requestID(String(match.1), String(match.2), channel: channel))
    }
    return filled
  }

  private func requestID(_ kind: String, _ account: String, channel: String?) -> String {
    Self.requestID(
      kind, account, server: names["server"], group: names["group"], room: names["room"], channel: channel)
  }

  /// The id that an invitation or application has, so that no test has to look for it.
  static func requestID(
    _ kind: String, _ account: String, server: String? = nil, group: String? = nil, room: String? = nil,
    channel: String? = nil
  ) -> String {
    let space =
      server.flatMap { EntityID($0) }.map { SpaceID.server($0) }
      ?? group.flatMap { EntityID($0) }.map { SpaceID.group($0) }
      ?? room.flatMap { EntityID($0) }.map { SpaceID.room($0) }
    guard let space, let kind = RequestRecord.Kind(rawValue: kind), let account = AccountID(account) else {
      return "none"
    }
    return RequestID(kind, of: account, in: space, channel: channel.flatMap { EntityID($0) }).text
  }
}

extension Person {
  @discardableResult
  func call(_ method: String, _ path: String, json: JSONValue?) throws -> Answer {
    guard let json else { return try call(method, path) }
    let data = Data(RecordJSON.text(json).utf8)
    return try call(method, path, try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }
}
