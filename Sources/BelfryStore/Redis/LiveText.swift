import BelfryBytes
import BelfryModel

/// The messages of a live channel, as text: a line `from <history>`, which names the process that published it by the
/// beginning of its `run_id`; a header line of words; then the content.
///
///     appended <id> <predecessor>         the next two lines: audience, content
///     run <id> <predecessor> <count>        so many entries, whose ids follow one another: the next line is their
///                                         audience, then comes the content of each
///     ephemeral <id>                        the next two lines: audience, content
///     updated <id> <predecessor> <entry> <update time>    the next two lines: audience, content; no content: recalled
///     memberships                           the next line: accids
///     read <upTo> <device> <version>      the next four lines: ids that clients are told; ids that are marked one by
///                                         one, or `*` if they are the same; watermarks; spaces that lag no more. In
///                                         the header line `*` stands for no id and for no device
///     index
///     device <accid> <device> <scene> <operation>     the next line: the target, as JSON; `*` for no device
///     ended <why> <device>                the next line: the streams that are to end; `*` for no device
///
/// Ids are stream ids in the first four, as Lua has them, and decimal in `read`. If one call carries several
/// commits, their messages are sent as one: after a line `several`, one after the other. No line of them
/// contains the end of a line. `device` has no line `from`, since brokers publish it themselves.
enum LiveText {
  static func read(_ echo: ReadEcho) -> String {
    let words = [echo.upTo?.text ?? "*", echo.device?.text ?? "*", "\(echo.version)"]
    let marked = echo.marked == echo.items ? "*" : echo.marked.map(\.text).joined(separator: " ")
    let lines = [
      "read " + words.joined(separator: " "), echo.items.map(\.text).joined(separator: " "), marked,
      echo.watermarks.map(\.text).joined(separator: " "), echo.caughtUp.map(\.key).joined(separator: " "),
    ]
    return lines.joined(separator: "\n")
  }

  static func device(_ echo: DeviceEcho) -> String {
    let (device, name) = (echo.device?.text ?? "*", echo.operation)
    return "device \(echo.account) \(device) \(name.scene.rawValue) \(name.word)\n"
      + RecordJSON.text(echo.target)
  }
}

extension LiveMessage {
  /// - Parameter process: the process that serves the channel, by its `run_id`.
  /// - Returns: nil if the bytes are no messages: anybody with access to Redis can publish anything. Empty if another process
  ///   published them: a master that a replica has replaced, and that did not know it yet. Nobody will find what it wrote.
  package static func all(in bytes: ArraySlice<UInt8>, from process: String) -> [LiveMessage]? {
    var lines = LiveLines(bytes)
    if lines.skip("from ") {
      let origin = lines.next()
      guard !origin.isEmpty else { return nil }
      guard process.utf8.starts(with: origin) else { return [] }
    }
    let areSeveral = lines.skip("several\n")
    var messages: [LiveMessage] = []
    repeat {
      let words = lines.next().split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
      guard let kind = words.first.flatMap({ Kind($0) }), words.count == kind.wordCount else { return nil }
      if kind == .run {
        guard let run = lines.run(words) else { return nil }
        messages += run
      } else {
        guard let message = LiveMessage(kind, words, &lines) else { return nil }
        messages.append(message)
      }
    } while areSeveral && !lines.isAtEnd
    return lines.isAtEnd ? messages : nil
  }

  /// Reads a message of any kind except a run, which is several messages.
  private init?(_ kind: Kind, _ words: [ArraySlice<UInt8>], _ lines: inout LiveLines) {
    switch kind {
    case .run: return nil
    case .appended:
      guard let predecessor = MessageID(streamBytes: words[2]), let entry = lines.entry(words[1])
      else { return nil }
      self = .appended(entry, predecessor: predecessor)
    case .ephemeral:
      guard let entry = lines.entry(words[1]) else { return nil }
      self = .ephemeral(entry)
    case .updated:
      guard let predecessor = MessageID(streamBytes: words[2]),
        let updates = MessageID(streamBytes: words[3]),
        let time = Int64(digits: words[4]), let entry = lines.entry(words[1], time, updates)
      else { return nil }
      self = .appended(entry, predecessor: predecessor)
    case .memberships:
      guard let accounts = lines.words(AccountID.init(bytes:)) else { return nil }
      self = .memberships(accounts)
    case .read:
      guard let echo = ReadEcho(words, &lines) else { return nil }
      self = .read(echo)
    case .index:
      self = .index
    case .device:
      guard let echo = DeviceEcho(words, target: lines.next()) else { return nil }
      self = .device(echo)
    case .ended:
      guard let why = StreamEnd(words: words.dropFirst().map { Substring(decoding: $0, as: UTF8.self) }),
        let ids = lines.words({ String(decoding: $0, as: UTF8.self) }), !ids.isEmpty
      else { return nil }
      self = .ended(EndedStreams(ids: ids, why: why))
    }
  }

  private enum Kind: String, CaseIterable {
    case appended, run, ephemeral, updated, memberships, read, index, device, ended

    /// The number of words, the kind included.
    var wordCount: Int {
      switch self {
      case .appended, .ended: 3
      case .run, .read: 4
      case .ephemeral: 2
      case .updated, .device: 5
      case .memberships, .index: 1
      }
    }

    init?(_ bytes: ArraySlice<UInt8>) {
      guard let found = Self.all.first(where: { bytes.elementsEqual($0.bytes) }) else { return nil }
      self = found.kind
    }

    private static let all = allCases.map { (kind: $0, bytes: Array($0.rawValue.utf8)) }
  }
}

/// The rest of the messages, line by line.
private struct LiveLines {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  var isAtEnd: Bool { rest.isEmpty }

  /// Skips the text if the rest begins with it. True if it did.
  mutating func skip(_ text: String) -> Bool {
    let bytes = text.utf8
    guard rest.starts(with: bytes) else { return false }
    rest = rest.dropFirst(bytes.count)
    return true
  }

  mutating func next() -> ArraySlice<UInt8> { rest.take(before: UInt8(ascii: "\n")) }

  /// The entry whose audience and content are the next two lines.
  mutating func entry(
    _ id: ArraySlice<UInt8>, _ updateTime: Int64? = nil, _ updates: MessageID? = nil
  ) -> LogEntry? {
    guard let id = MessageID(streamBytes: id) else { return nil }
    let audience = next()
    return LogEntry(
      id: id, audience: audience, content: next(), updateTime: updateTime, updates: updates)
  }

  /// The entries of a run, each with the one before it; nil if one of them is missing.
  mutating func run(_ words: [ArraySlice<UInt8>]) -> [LiveMessage]? {
    guard var id = MessageID(streamBytes: words[1]), var predecessor = MessageID(streamBytes: words[2]),
      let count = Int64(digits: words[3]), count > 0
    else { return nil }
    let audience = next()
    var messages: [LiveMessage] = []
    while true {
      guard let entry = LogEntry(id: id, audience: audience, content: next()) else { return nil }
      messages.append(.appended(entry, predecessor: predecessor))
      if messages.count == count { return messages }
      guard !isAtEnd, let next = id.successor else { return nil }
      (id, predecessor) = (next, id)
    }
  }

  /// The words of the next line; nil if one of them cannot be read.
  mutating func words<Value>(_ read: (ArraySlice<UInt8>) -> Value?) -> [Value]? {
    var values: [Value] = []
    for word in next().split(separator: UInt8(ascii: " ")) {
      guard let value = read(word) else { return nil }
      values.append(value)
    }
    return values
  }
}

extension ReadEcho {
  fileprivate init?(_ words: [ArraySlice<UInt8>], _ lines: inout LiveLines) {
    guard let items = lines.words(MessageID.init(decimalBytes:)), let marked = lines.marked(items),
      let watermarks = lines.words(MessageID.init(decimalBytes:)),
      let caughtUp = lines.words(SpaceID.init(keyBytes:)), let version = Int64(digits: words[3])
    else { return nil }
    self.init(items: items, marked: marked, watermarks: watermarks, caughtUp: caughtUp, version: version)
    if !words[1].isNone {
      guard let id = MessageID(decimalBytes: words[1]) else { return nil }
      upTo = id
    }
    if !words[2].isNone {
      guard let device = DeviceID(String(decoding: words[2], as: UTF8.self)) else { return nil }
      self.device = device
    }
  }
}

extension LiveLines {
  /// The next line's ids, or the given ones if the line says that they are the same.
  fileprivate mutating func marked(_ items: [MessageID]) -> [MessageID]? {
    skip("*\n") ? items : words(MessageID.init(decimalBytes:))
  }
}

extension DeviceEcho {
  fileprivate init?(_ words: [ArraySlice<UInt8>], target: ArraySlice<UInt8>) {
    guard let account = AccountID(bytes: words[1]),
      let scene = NotificationType.Scene(rawValue: String(decoding: words[3], as: UTF8.self)),
      let word = OperationName.word(words[4]),
      let target = RecordJSON.value(String(decoding: target, as: UTF8.self))
    else { return nil }
    let device = words[2].isNone ? nil : DeviceID(String(decoding: words[2], as: UTF8.self))
    guard device != nil || words[2].isNone else { return nil }
    self.init(account: account, device: device, operation: OperationName(scene, word), target: target)
  }
}

extension OperationName {
  /// Nil unless it consists of letters: it is shown to clients unchanged.
  fileprivate static func word(_ bytes: ArraySlice<UInt8>) -> String? {
    let word = String(decoding: bytes, as: UTF8.self)
    return !word.isEmpty && word.allSatisfy { $0.isASCII && $0.isLetter } ? word : nil
  }
}

extension ArraySlice<UInt8> {
  fileprivate var isNone: Bool { count == 1 && first == UInt8(ascii: "*") }
}

extension AccountID {
  fileprivate init?(bytes: ArraySlice<UInt8>) { self.init(String(decoding: bytes, as: UTF8.self)) }
}
