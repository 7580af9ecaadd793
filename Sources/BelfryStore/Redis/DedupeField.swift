import BelfryBytes
import BelfryModel
import BelfryRedis
import CCrypto

/// The name under which a partition remembers a send: 80 bits of a hash. Nobody can find a field that is
/// another sender's: with fewer bits, or with a hash that can be inverted, a sender could make a name that
/// has the same field.
struct DedupeField: Hashable {
  private let high: UInt64
  private let low: UInt16

  init(_ dedupe: Dedupe, in space: SpaceID) {
    // No name holds a NUL, so no two inputs are the same.
    var name: [UInt8] = []
    name.reserveCapacity(128)
    if let sender = dedupe.sender { name.append(sender.text) }
    name.append(0)
    name.append(space.key)
    name.append(0)
    name.append(dedupe.messageClientId)
    var hash = InlineArray<32, UInt8>(repeating: 0)
    var bytes = hash.mutableSpan
    // SAFETY: both are as long as is said, and used during the call only.
    unsafe bytes.withUnsafeMutableBufferPointer { hash in
      unsafe crypto_sha256_of_few(name, name.count, hash.baseAddress)
    }
    high = (0..<8).reduce(0) { $0 << 8 | UInt64(hash[$1]) }
    low = UInt16(hash[8]) << 8 | UInt16(hash[9])
  }
}

extension RedisCommand {
  /// In hexadecimal digits.
  mutating func append(_ field: DedupeField) { append(field.text) }
}

extension DedupeField {
  fileprivate var text: HexadecimalText {
    var text = HexadecimalText()
    text.append(high, digits: 16)
    text.append(UInt64(low), digits: 4)
    return text
  }
}
