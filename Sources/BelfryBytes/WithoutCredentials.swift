extension String {
  /// The text with user and password taken out of every URL in it, as far as what stands between `://` and the last `@`
  /// of the same word: passwords are found where they were not escaped, too. So are those for Sentinels, which stand
  /// behind `sentinel_password=`. For logs and errors, which are read by more people than a password is for.
  package var withoutCredentials: String {
    guard utf8.contains(UInt8(ascii: "@")) || utf8.contains(UInt8(ascii: "=")) else { return self }
    var kept: [UInt8] = []
    var word: [UInt8] = []
    for byte in utf8 {
      if byte <= UInt8(ascii: " ") || byte == UInt8(ascii: "\"") {
        kept += Self.hidingCredentials(of: word) + [byte]
        word.removeAll()
      } else {
        word.append(byte)
      }
    }
    return String(decoding: kept + Self.hidingCredentials(of: word), as: UTF8.self)
  }

  private static func hidingCredentials(of word: [UInt8]) -> [UInt8] {
    let word = hidingSentinelPassword(of: word)
    guard let at = word.lastIndex(of: UInt8(ascii: "@")) else { return word }
    let mark = Array("://".utf8)
    let start = word.indices.first { word[$0...].starts(with: mark) }
    guard let start, start + mark.count < at else { return word }
    return word[..<(start + mark.count)] + Array("***".utf8) + word[at...]
  }

  /// Up to the end of the word: an & may be of the password.
  private static func hidingSentinelPassword(of word: [UInt8]) -> [UInt8] {
    let key = Array("sentinel_password=".utf8)
    guard word.count > key.count,
      let start = word.indices.dropLast(key.count).first(where: { word[$0...].starts(with: key) })
    else { return word }
    return word[..<(start + key.count)] + Array("***".utf8)
  }
}
