/// Reads an RDB, Redis's form of a snapshot, key by key from its first byte to its last. It takes a few
/// hundred kilobytes of memory, however large the snapshot is.
///
/// It finds the end of each value, and the number of entries in a stream. The bytes of a value can be copied
/// as they are. Source: Redis's rdb.h and rdb.c, 7.0 to 8.0.
final class RDBReader {
  typealias Source = () throws(BackupError) -> [UInt8]?
  typealias Sink = (ArraySlice<UInt8>) throws(BackupError) -> Void

  struct Key: Hashable {
    var database: Int
    var name: [UInt8]
    /// Milliseconds since 1970; nil: never.
    var expiresAt: Int64?
    /// How the value is encoded: RDB_TYPE_… of rdb.h.
    var type: UInt8
  }

  enum Item: Hashable {
    /// An auxiliary field, which says something about the file.
    case note(name: String, value: String)
    /// The number of keys in the database, as its writer counted them.
    case size(database: Int, keys: Int)
    /// Its value comes next: `readValue` must be called.
    case key(Key)
    /// The checksum was right, and nothing follows.
    case end
  }

  /// The version of the format: four digits in the header. A Redis does not read later versions.
  private(set) var version = ""
  private(set) var bytesRead = 0
  private let place: String
  private let source: Source
  private let needsChecksum: Bool
  private var buffer: [UInt8] = []
  private var position = 0
  /// The position up to which bytes were added to the checksum and given to the sink.
  private var flushed = 0
  private var crc = CRC64()
  private var sink: Sink?
  private var database = 0

  /// The longest string that is read rather than passed over: the names of keys and notes, which are short.
  private static let stringBytesMax = 1 << 20
  /// More than any memory holds: a larger count comes from a damaged file.
  private static let countMax: UInt64 = 1 << 40

  /// - Parameters:
  ///   - place: the name of the source, for errors.
  ///   - needsChecksum: true if a file without a checksum is refused. Redis can be configured to write none.
  ///   - source: gives the next bytes, and nil at the end.
  init(_ place: String, needsChecksum: Bool, from source: @escaping Source) {
    self.place = place
    self.needsChecksum = needsChecksum
    self.source = source
  }

  /// Reads the header, before all else.
  func readHeader() throws(BackupError) {
    let isRDB = try has(9) && buffer[..<5].elementsEqual("REDIS".utf8)
    version = isRDB ? String(decoding: buffer[5..<9], as: UTF8.self) : ""
    guard Int(version) != nil else {
      throw BackupError(.notABackup, "it is not a file that belfry backup made", at: place)
    }
    position = 9
  }

  func next() throws(BackupError) -> Item {
    var expiresAt: Int64?
    while true {
      let code = try byte()
      switch Opcode(rawValue: code) {
      case .end:
        try readEnd()
        return .end
      case .database: database = try count()
      case .size:
        let keys = try count()
        _ = try number()
        return .size(database: database, keys: keys)
      case .note:
        let name = try string()
        return .note(
          name: String(decoding: name, as: UTF8.self), value: String(decoding: try string(), as: UTF8.self))
      case .expirySeconds: expiresAt = 1_000 * Int64(try fixed(4))
      case .expiry: expiresAt = Int64(bitPattern: try fixed(8))
      case .idleTime: _ = try number()
      case .frequency: _ = try byte()
      case .functions: try skipString()
      case .slot: try skipNumbers(3)
      case .moduleNote:
        _ = try number()
        try skipModuleFields()
      case nil:
        return .key(Key(database: database, name: try string(), expiresAt: expiresAt, type: code))
      }
    }
  }

  /// Passes over the value of the last key.
  /// - Parameter sink: receives the bytes of the value, in pieces.
  /// - Returns: the number of entries, if the value is a stream.
  func readValue(of key: Key, copyingTo sink: Sink? = nil) throws(BackupError) -> Int {
    try flush()
    self.sink = sink
    let entries = try skipValue(key.type)
    try flush()
    self.sink = nil
    return entries
  }

  private enum Opcode: UInt8 {
    case slot = 244
    case functions = 245
    case moduleNote = 247
    case idleTime = 248
    case frequency = 249
    case note = 250
    case size = 251
    case expiry = 252
    case expirySeconds = 253
    case database = 254
    case end = 255
  }

  private func readEnd() throws(BackupError) {
    try flush()
    let computed = crc.value
    let written = try fixed(8)
    guard written == computed || written == 0 && !needsChecksum else {
      throw BackupError(.damaged, "its checksum is wrong: some of its bytes have changed", at: place)
    }
    guard try !has(1) else { throw BackupError(.damaged, "there is something after its end", at: place) }
  }
}

// MARK: - Parts

extension RDBReader {
  func byte() throws(BackupError) -> UInt8 {
    try require(1)
    position += 1
    return buffer[position - 1]
  }

  /// A number of `count` bytes, the least significant first.
  func fixed(_ count: Int) throws(BackupError) -> UInt64 {
    var number: UInt64 = 0
    for index in 0..<count { number |= UInt64(try byte()) << UInt64(8 * index) }
    return number
  }

  /// A number in the encoding of lengths.
  func number() throws(BackupError) -> UInt64 {
    guard case .plain(let number) = try stringLength() else { throw malformed("a number") }
    return number
  }

  /// A count of elements or bytes.
  func count() throws(BackupError) -> Int {
    let number = try number()
    guard number <= Self.countMax else { throw malformed("a length") }
    return Int(number)
  }

  func skipNumbers(_ count: Int) throws(BackupError) {
    for _ in 0..<count { _ = try number() }
  }

  private enum StringLength {
    case plain(UInt64)
    /// A number in place of text.
    case integer(bytes: Int)
    case compressed(UInt64, to: UInt64)
  }

  private func stringLength() throws(BackupError) -> StringLength {
    let first = try byte()
    switch first >> 6 {
    case 0: return .plain(UInt64(first & 63))
    case 1: return .plain(UInt64(first & 63) << 8 | UInt64(try byte()))
    case 2:
      guard first == 0x80 || first == 0x81 else { throw malformed("a length") }
      var number: UInt64 = 0
      for _ in 0..<(first == 0x80 ? 4 : 8) { number = number << 8 | UInt64(try byte()) }
      return .plain(number)
    default:
      switch first & 63 {
      case 0: return .integer(bytes: 1)
      case 1: return .integer(bytes: 2)
      case 2: return .integer(bytes: 4)
      case 3:
        let compressed = try number()
        return .compressed(compressed, to: try number())
      default: throw malformed("a string")
      }
    }
  }

  func string() throws(BackupError) -> [UInt8] {
    switch try stringLength() {
    case .plain(let count): return try bytes(count)
    case .integer(let count):
      let bits = try fixed(count) << UInt64(64 - 8 * count)
      return Array(String(Int64(bitPattern: bits) >> Int64(64 - 8 * count)).utf8)
    case .compressed(let count, let full):
      guard full <= Self.stringBytesMax, let text = LZF.decompress(try bytes(count), to: Int(full)) else {
        throw malformed("a compressed string")
      }
      return text
    }
  }

  func skipString() throws(BackupError) {
    switch try stringLength() {
    case .plain(let count), .compressed(let count, _): try skip(count)
    case .integer(let count): try skip(UInt64(count))
    }
  }

  func skipStrings(_ count: Int) throws(BackupError) {
    for _ in 0..<count { try skipString() }
  }

  func skip(_ count: UInt64) throws(BackupError) {
    var left = count
    while left > UInt64(buffer.count - position) {
      left -= UInt64(buffer.count - position)
      position = buffer.count
      try require(1)
    }
    position += Int(left)
  }

  private func bytes(_ count: UInt64) throws(BackupError) -> [UInt8] {
    guard count <= Self.stringBytesMax else { throw malformed("a name") }
    let count = Int(count)
    try require(count)
    position += count
    return Array(buffer[position - count..<position])
  }

  func malformed(_ what: String) -> BackupError {
    BackupError(.damaged, "\(what) in it is not valid: some of its bytes have changed", at: place)
  }

  func unknown(_ type: UInt8) -> BackupError {
    BackupError(
      .damaged, "a value of type \(type), which this release of Belfry cannot read", at: place,
      advice: "give Belfry a Redis, or a database of one, that no other program writes to")
  }

  private func require(_ count: Int) throws(BackupError) {
    guard try has(count) else {
      throw BackupError(.damaged, "it ends in the middle: it was cut short", at: place)
    }
  }

  /// True if at least `count` bytes follow.
  private func has(_ count: Int) throws(BackupError) -> Bool {
    while buffer.count - position < count {
      try flush()
      buffer.removeFirst(position)
      position = 0
      flushed = 0
      guard let more = try source() else { return false }
      bytesRead += more.count
      buffer += more
    }
    return true
  }

  private func flush() throws(BackupError) {
    guard position > flushed else { return }
    crc.update(buffer[flushed..<position])
    if let sink { try sink(buffer[flushed..<position]) }
    flushed = position
  }
}
