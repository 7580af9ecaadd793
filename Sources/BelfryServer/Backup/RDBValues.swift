// Finds the end of the value of each type. Most types have several encodings, for small and for large values.

extension RDBReader {
  /// - Returns: the number of entries, if the value is a stream.
  func skipValue(_ type: UInt8) throws(BackupError) -> Int {
    switch type {
    // One string: a text, or a small collection in one piece.
    case 0, 9, 10, 11, 12, 13, 16, 17, 20: try skipString()
    // Strings: a list, a set, a list of pieces.
    case 1, 2, 14: try skipStrings(try count())
    case 3:
      for _ in 0..<(try count()) {
        try skipString()
        try skipDecimal()
      }
    case 4: try skipStrings(2 * (try count()))
    case 5:
      for _ in 0..<(try count()) {
        try skipString()
        try skip(8)
      }
    case 7:
      _ = try number()
      try skipModuleFields()
    case 15, 19, 21: return try skipStream(type)
    case 18:
      for _ in 0..<(try count()) {
        _ = try number()
        try skipString()
      }
    // Hashes whose fields expire.
    case 24:
      try skip(8)
      for _ in 0..<(try count()) {
        _ = try number()
        try skipStrings(2)
      }
    case 25:
      try skip(8)
      try skipString()
    default: throw unknown(type)
    }
    return 0
  }

  /// A score as text; three lengths stand for NaN and the infinities, without text.
  private func skipDecimal() throws(BackupError) {
    let count = try byte()
    if count < 253 { try skip(UInt64(count)) }
  }

  /// A value of a module, in which each field is preceded by its kind.
  func skipModuleFields() throws(BackupError) {
    while true {
      switch try number() {
      case 0: return
      case 1, 2: _ = try number()
      case 3: try skip(4)
      case 4: try skip(8)
      case 5: try skipString()
      default: throw malformed("a module's field")
      }
    }
  }

  private func skipStream(_ type: UInt8) throws(BackupError) -> Int {
    let pieces = try count()
    try skipStrings(2 * pieces)
    let entries = try count()
    // The last id; since 7.0 the first one, the largest one deleted, and the number of entries ever added.
    try skipNumbers(type == 15 ? 2 : 7)
    for _ in 0..<(try count()) { try skipConsumerGroup(type) }
    return entries
  }

  private func skipConsumerGroup(_ type: UInt8) throws(BackupError) {
    try skipString()
    try skipNumbers(type == 15 ? 2 : 3)
    for _ in 0..<(try count()) {
      try skip(16 + 8)
      _ = try number()
    }
    for _ in 0..<(try count()) {
      try skipString()
      try skip(type == 21 ? 16 : 8)
      try skip(16 * UInt64(try count()))
    }
  }
}
