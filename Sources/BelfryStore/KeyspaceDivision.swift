package import BelfryModel
import BelfryRedis

/// The rules by which a keyspace gets more partitions: they give each key its new partitions.
///
/// The numbers are powers of two, so that the spaces of each partition go to new partitions that no other
/// partition's spaces go to: if 64 become 256, those of 3 go to 3, 67, 131 and 195. A key of one space or
/// account keeps its value under another name. A key that a partition has for many spaces or accounts is
/// divided, element by element. Entries keep their ids (``Partitions/Origin``).
package struct KeyspaceDivision: Sendable {
  private let before: RedisLayout
  private let after: RedisLayout
  /// The numbers of the earlier partitions by their hash tags.
  private let numbers: [Substring: Int]

  package init(from partitions: Partitions, to more: Partitions) {
    (before, after) = (RedisLayout(partitions), RedisLayout(more))
    numbers = Dictionary(
      uniqueKeysWithValues: partitions.hashTags.enumerated().map { (Substring($1), $0) })
  }

  package enum Destination: Sendable, Hashable {
    /// The value is the same.
    case whole(String)
    case divided(DividedKey)
    /// The key has no meaning before brokers work on the new keyspace, so it is left out.
    case nowhere
  }

  /// Nil for a key that this release does not know.
  package func destination(of key: String) -> Destination? {
    if key.hasPrefix(OffsetKey.prefix) { return .nowhere }
    guard key.hasPrefix(RedisLayout.anyPartition.dropLast()) else { return .whole(key) }
    guard let brace = key.firstIndex(of: "}"),
      let number = numbers[key[..<brace].dropFirst(RedisLayout.anyPartition.count - 1)]
    else { return nil }
    let name = String(key[brace...].dropFirst(2))
    if let rule = DividedKey.Rule(name) {
      return .divided(DividedKey(key: key, name: name, number: number, rule: rule))
    }
    return home(ofKey: name).map { $0.map { .whole(after.prefix($0) + name) } ?? .nowhere }
  }

  /// The partition of a key with this name, which belongs to one space or account. The inner nil is for a key
  /// that is left out.
  private func home(ofKey name: String) -> Partition?? {
    let kind = name.prefix { $0 != ":" }
    let rest = name.dropFirst(kind.count + 1)
    switch kind {
    case "copies-lease", "outbox": return .some(nil)
    case "registration", "revocations": return after.partitions.all[0]
    case "ticket": return after.partitions.holding(key: String(rest))
    case "directory": return after.partitions.holding(key: name)
    case "spaces", "read", "account", "delivered", "shares", "invitations", "pushers":
      return AccountID(String(rest)).map { after.partition(of: $0) }
    default:
      // A table of a channel has the channel's id before the space: `channel:9:server:77`.
      let space = SpaceID(key: rest) ?? SpaceID(key: rest.drop { $0 != ":" }.dropFirst())
      return space.map { after.partition(of: $0) }
    }
  }

  /// The hashes of all earlier partitions. Each gives fields to its new partitions, even if it does not
  /// exist.
  package var partitionHashes: [DividedKey] {
    before.partitions.all.map {
      DividedKey(key: before.partitionHash($0), name: "partition", number: $0.number, rule: .partition)
    }
  }

  package static var lastField: String { RedisLayout.lastField }

  /// The copies and the id of the last one that the reader has had, for a key with the state of a reader of
  /// copies. Nil for all other keys.
  package func copies(readBy key: DividedKey, _ contents: KeyContents) -> (key: String, position: String)? {
    guard key.rule == .reader, case .hash(let fields) = contents,
      let position = fields[ArraySlice("position".utf8)], let partition = Partition(key.number)
    else { return nil }
    return (before.copies(partition), String(decoding: position, as: UTF8.self))
  }

  package var outboxes: [String] { before.partitions.all.map { before.outbox($0) } }

  /// The keys to which the elements of a key may go.
  package func places(of key: DividedKey) -> [(partition: Partition, key: String)] {
    after.partitions.all.filter { $0.number & (before.partitions.count - 1) == key.number }.map {
      ($0, after.prefix($0) + key.name)
    }
  }
}

// MARK: - Divided keys

/// A key whose value concerns many spaces or accounts.
package struct DividedKey: Sendable, Hashable {
  package let key: String
  /// The key's name without the prefix of its partition.
  let name: String
  /// The number of its partition.
  let number: Int
  let rule: Rule

  enum Rule: Sendable, Hashable {
    case partition, spaces, accounts, pushes, retries, corrections, copies, reader, everywhere

    init?(_ name: String) {
      switch name.prefix(while: { $0 != ":" }) {
      case "partition": self = .partition
      case "active", "wake", "copies-behind", "copies-due", "copies-waiting": self = .spaces
      case "pushed", "badges", "streams", "revoked": self = .accounts
      case "pushes": self = .pushes
      case "retries": self = .retries
      case "corrections": self = .corrections
      case "copies": self = name == "copies" ? .copies : .reader
      // The record of a send does not say to which space it went.
      case "copy-readers", "dedupe": self = .everywhere
      default: return nil
      }
    }
  }
}

/// The value of a key, element by element.
package enum KeyContents: Sendable, Hashable {
  package typealias Bytes = ArraySlice<UInt8>

  case hash([Bytes: Bytes])
  case set(Set<Bytes>)
  /// Scores by member.
  case sortedSet([Bytes: Bytes])
  case stream([Entry])

  package struct Entry: Sendable, Hashable {
    package var id: Bytes
    package var fields: [Bytes]

    package init(id: Bytes, fields: [Bytes]) { (self.id, self.fields) = (id, fields) }

    package subscript(_ name: String) -> String? {
      for index in stride(from: 0, to: fields.count - 1, by: 2) where fields[index].elementsEqual(name.utf8) {
        return String(decoding: fields[index + 1], as: UTF8.self)
      }
      return nil
    }
  }

  package var isEmpty: Bool {
    switch self {
    case .hash(let pairs), .sortedSet(let pairs): pairs.isEmpty
    case .set(let members): members.isEmpty
    case .stream(let entries): entries.isEmpty
    }
  }

  fileprivate func filter(_ isIncluded: (Bytes) -> Bool, entries: (Entry) -> Bool) -> KeyContents {
    switch self {
    case .hash(let pairs): .hash(pairs.filter { isIncluded($0.key) })
    case .sortedSet(let pairs): .sortedSet(pairs.filter { isIncluded($0.key) })
    case .set(let members): .set(members.filter(isIncluded))
    case .stream(let all): .stream(all.filter(entries))
    }
  }
}

extension KeyspaceDivision {
  /// The part of the key's value that each of its places gets.
  /// - Parameters:
  ///   - last: the last millisecond of all ids that the keyspace has given; nil if it has given none.
  ///   - next: the space of the first copy that a reader has not had yet, for the state of a reader.
  package func divide(
    _ contents: KeyContents, of key: DividedKey, lastMilliseconds last: Int64?, next: SpaceID? = nil
  ) -> [(key: String, contents: KeyContents)] {
    places(of: key).map { partition, name in
      var part = contents.filter {
        isElement($0, of: key, in: partition, next)
      } entries: {
        $0["space"].flatMap { SpaceID(key: $0) }.map { after.partition(of: $0) } == partition
      }
      if case .hash(var fields) = part {
        if key.rule == .partition, let last { begin(partition, after: last, &fields) }
        if key.rule == .reader { fields[Self.bytes("count")] = Self.bytes("?") }
        part = .hash(fields)
      }
      return (name, part)
    }
  }

  private func isElement(
    _ bytes: KeyContents.Bytes, of key: DividedKey, in partition: Partition, _ next: SpaceID?
  ) -> Bool {
    let text = String(decoding: bytes, as: UTF8.self)
    switch key.rule {
    case .everywhere, .copies: return true
    case .spaces: return SpaceID(key: text).map { after.partition(of: $0) } == partition
    case .partition: return SpaceID(key: text).map { after.partition(of: $0) == partition } ?? true
    case .accounts: return home(ofAccount: text) == partition
    case .pushes, .retries, .corrections:
      let words = text.split(separator: " ")
      guard words.count > 2 else { return false }
      if key.rule != .corrections {
        let space = SpaceID(key: words[key.rule == .pushes ? 1 : 2])
        return space.map { after.partition(of: $0) } == partition
      }
      // Push has gone past an entry, and its receiver may be of any partition.
      let home = home(ofAccount: String(words[1]))
      let isBeneath = home.map { $0.number & (before.partitions.count - 1) == key.number } ?? false
      return (isBeneath ? home?.number : key.number) == partition.number
    case .reader:
      if text == "place" { return next.map { after.partition(of: $0) } == partition }
      // `lost` is a sum over all partitions, so only one of them gets it.
      return text != "lost" || partition.number == key.number
    }
  }

  private func home(ofAccount accid: String) -> Partition? {
    AccountID(accid).map { after.partition(of: $0) }
  }

  /// Makes all ids that the partition gives from now on later than any that the keyspace gave before, in all
  /// partitions. Ids between its last one and that are lost, if there were any: a reader who stands at one of
  /// them is told.
  private func begin(
    _ partition: Partition, after last: Int64, _ fields: inout [KeyContents.Bytes: KeyContents.Bytes]
  ) {
    func field(_ name: String) -> String? {
      fields[Self.bytes(name)].map { String(decoding: $0, as: UTF8.self) }
    }
    let end = Partitions.Growth(count: before.partitions.count, throughMilliseconds: last).last(in: partition)
    let ended = field(RedisLayout.historyField) ?? "-"
    let rewind = "\(ended) \(field(RedisLayout.lastField) ?? MessageID.zero.streamForm) \(end.streamForm)"
    let known = field(RedisLayout.rewoundField)
    fields[Self.bytes(RedisLayout.lastField)] = Self.bytes(end.streamForm)
    fields[Self.bytes(RedisLayout.rewoundField)] = Self.bytes(
      [known, rewind].compactMap(\.self).joined(separator: " "))
  }

  private static func bytes(_ text: String) -> KeyContents.Bytes { ArraySlice(text.utf8) }
}
