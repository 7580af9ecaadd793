import BelfryModel
import ModelSamples
import TestKit
import Testing

@testable import BelfryStore

@Suite struct LiveMessageTests {
  private static let entry = LogEntry(
    id: MessageID(unixMilliseconds: 1_763_700_000_000, partition: space.partition, sequence: 7),
    audience: Audience(.subscribed, channel: 3, named: ["bob"]), contentJSON: "{\"body\":\"鐘\"}")

  private static let earlier = MessageID(
    unixMilliseconds: 1_763_700_000_000, partition: space.partition, sequence: 6)

  private static let echoes = [
    DeviceEcho(
      account: "bob", device: "phone", operation: OperationName(.group, "mute"),
      target: ["groupId": "7", "accids": ["carol", "dave"]]),
    DeviceEcho(account: "bob", device: nil, operation: OperationName(.room, "enter"), target: [:]),
  ]

  private static var texts: [String] {
    let id = entry.id.streamForm
    let rest = "\n\(entry.audience.text)\n\(entry.contentJSON)"
    return [
      "appended \(id) 0-0" + rest, "ephemeral \(id)" + rest,
      "updated \(id) \(earlier.streamForm) 0-0 5" + rest,
      "updated \(id) \(earlier.streamForm) 0-0 5\n\(entry.audience.text)\n",
      "memberships\nbob carol",
      LiveText.read(
        ReadEcho(
          items: [1, 2], marked: [3], watermarks: [5], caughtUp: [space], upTo: 6, device: "phone", version: 8
        )),
      "index",
    ] + echoes.map { LiveText.device($0) } + ["ended replaced phone\na.0-1 a.0-2", "ended ended *\na.0-1"]
  }

  private static func read(_ text: String, from process: String = "") -> [LiveMessage]? {
    LiveMessage.all(in: ArraySlice(text.utf8), from: process)
  }

  @Test func everyKindIsRead() {
    #expect(Self.texts.map { Self.read($0) } == Self.messages.map { [$0] })
    let several = "several\n" + Self.texts.joined(separator: "\n")
    #expect(Self.read(several) == Self.messages)
  }

  @Test func messagesOfAnotherProcessAreNone() {
    let process = "d4c0ffee1f8d2a"
    for (text, message) in zip(Self.texts, Self.messages) {
      #expect(Self.read("from d4c0ffee\n" + text, from: process) == [message])
      #expect(Self.read("from d4c0ffee\nseveral\n\(text)\nindex", from: process) == [message, .index])
      #expect(Self.read("from d4c0ffef\n" + text, from: process) == [])
      #expect(Self.read("from d4c0ffee\n" + text, from: "") == [])
    }
  }

  @Test func aRunIsSeveralEntriesWhoseIDsFollowOneAnother() {
    let id = Self.earlier
    let run = "run \(id.streamForm) 0-0 2\n\(Self.entry.audience.text)\n{}\n\(Self.entry.contentJSON)"
    let first = LogEntry(id: id, audience: Self.entry.audience, contentJSON: "{}")
    let messages: [LiveMessage] = [
      .appended(first, predecessor: .zero), .appended(Self.entry, predecessor: id),
    ]
    #expect(Self.read(run) == messages)
    let among = "several\nindex\n" + run + "\nindex"
    #expect(Self.read(among) == [.index] + messages + [.index])
    let last = MessageID(unixMilliseconds: 1_763_700_000_000, partition: space.partition, sequence: 4_095)
    for broken in [
      run + "\n{}", run + "\nindex", run.replacing(" 2\n", with: " 3\n"), run.replacing(" 2\n", with: " 0\n"),
      run.replacing(" 2\n", with: "\n"), run.replacing(" 2\n", with: " 9223372036854775807\n"),
      "run \(last.streamForm) 0-0 2\nall\n{}\n{}",
    ] {
      #expect(Self.read(broken) == nil, "\(broken)")
    }
  }

  private static var messages: [LiveMessage] {
    var updated = entry
    updated.updateTime = 5
    updated.updates = .zero
    var recalled = updated
    recalled.content = []
    return [
      .appended(entry, predecessor: .zero), .ephemeral(entry), .appended(updated, predecessor: earlier),
      .appended(recalled, predecessor: earlier),
      .memberships(["bob", "carol"]),
      .read(
        ReadEcho(
          items: [1, 2], marked: [3], watermarks: [5], caughtUp: [space], upTo: 6, device: "phone", version: 8
        )),
      .index, .device(echoes[0]),
      .device(echoes[1]),
      .ended(EndedStreams(ids: ["a.0-1", "a.0-2"], why: .replaced(by: "phone"))),
      .ended(EndedStreams(ids: ["a.0-1"], why: .ended)),
    ]
  }

  @Test(arguments: [
    "", "\n", "from", "from \nindex", "from d4c0ffee", "from d4c0ffee\n",
    "from d4c0ffee\nfrom d4c0ffee\nindex", "several", "several\n", "index\nindex", "several\nindex\nappended",
    "appended", "appended 1-1",
    "appended 1-1 0-0", "appended 1-1 0-0\nall\n",
    "appended 1 2\nall\n{}",
    "appended 1763700000000-5 0-0\n?\n{}", "appended 1763700000000-5 0-0\nnobody\n{}",
    "appended 1763700000000-5 0-0\nall\nnot json", "appended 1763700000000-5 0-0 \nall\n{}",
    "appended 99999999999999999999-1 0-0\nall\n{}", "appended 1763700000000-4194304 0-0\nall\n{}",
    "appended 1763700000000--5 0-0\nall\n{}", "ephemeral\nall\n{}",
    "updated 1763700000000-5 0-0 0-0 x\nall\n{}",
    "updated 1763700000000-5 0-0 x 5\nall\n{}", "updated 1763700000000-5 5\nall\n{}",
    "memberships\nbob ?", "read * *\n1\n*\n\n", "read * * x\n1\n*\n\n", "read * * -1\n1\n*\n\n",
    "read * * 1\nx",
    "read 1-1 * 1\n", "read * b/d 1\n1", "read * * 1\n1\nx", "read * * 1\n1\n*\nx",
    "read * * 1\n1\n*\n1\nguild:7", "index 1",
    "Index", "device bob phone group mute", "device bob phone group mute\n{", "device bob phone group\n{}",
    "device ? phone group mute\n{}", "device bob b/d group mute\n{}", "device bob phone club mute\n{}",
    "device bob phone group mu\"te\n{}", "device bob phone group \n{}",
    "ended ended *", "ended ended *\n", "ended ended phone\na", "ended replaced b/d\na", "ended gone *\na",
    "ended replaced\na", "ended replaced phone x\na",
  ])
  func whatIsNoMessageIsIgnored(text: String) {
    #expect(Self.read(text, from: "d4c0ffee") == nil)
  }

  /// Anybody with access to Redis can publish anything, and reading must end for any bytes.
  @Test func garbageDoesNoHarm() {
    var random = SeededGenerator(seed: 7)
    var read = 0
    for _ in 0..<20_000 {
      var bytes = Array(random.pick(Self.texts).utf8)
      for _ in 0..<1 + random.below(4) {
        switch random.below(3) {
        case 0 where !bytes.isEmpty: bytes[random.below(bytes.count)] = UInt8(random.below(256))
        case 1 where !bytes.isEmpty: bytes.remove(at: random.below(bytes.count))
        default: bytes.insert(random.pick([10, 32, 45, 255]), at: random.below(bytes.count + 1))
        }
      }
      if LiveMessage.all(in: bytes[...], from: "") != nil { read += 1 }
    }
    #expect(read > 100 && read < 19_900, "some are still messages, most are not")
  }

  @Test func idsAreReadFromBytesAsFromText() {
    var random = SeededGenerator(seed: 8)
    for _ in 0..<1_000 {
      let id = random.messageID()
      #expect(MessageID(streamBytes: Array(id.streamForm.utf8)[...]) == id)
      #expect(MessageID(decimalBytes: Array(id.text.utf8)[...]) == id)
    }
    for text in [
      "0-0", "1-1", "1704067199999-5", "1704067200000-0", "3903090455552-0", "5-", "-5", "5", "a-1",
    ] {
      #expect(
        MessageID(streamBytes: Array(text.utf8)[...]) == MessageID(streamForm: text), "of \(text)")
    }
    #expect(Int64(digits: Array("9223372036854775807".utf8)[...]) == .max)
    #expect(Int64(digits: Array("9223372036854775808".utf8)[...]) == nil)
  }
}
