import BelfryBytes
import BelfryModel
import CCrypto

extension Dedupe {
  /// What a send is remembered under in its partition: 80 bits of a hash, in hexadecimal digits. Nobody can look for
  /// another sender's: of fewer bits, or of a hash that can be turned round, one that is another's could be made.
  func field(in space: SpaceID) -> [UInt8] {
    // No name holds a NUL, so no two read the same.
    var name: [UInt8] = []
    name.reserveCapacity(128)
    if let sender { name.append(sender.text) }
    name.append(0)
    name.append(space.key)
    name.append(0)
    name.append(messageClientId)
    var hash = [UInt8](repeating: 0, count: Int(crypto_hash_bytes))
    unsafe crypto_sha256_of_few(name, name.count, &hash)
    // In the same memory: each send has one.
    name.removeAll(keepingCapacity: true)
    for byte in hash[..<Self.fieldBytes] {
      name.append(Self.digit(byte >> 4))
      name.append(Self.digit(byte & 15))
    }
    return name
  }

  private static let fieldBytes = 10

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}
