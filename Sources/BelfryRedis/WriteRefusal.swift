/// Why Redis refuses writes although it answers. Nothing was done by a write that was refused so.
package enum WriteRefusal: String, Sendable, Hashable, CaseIterable {
  /// Redis is at `maxmemory`, and refuses what may need more of it (`OOM`).
  case memory
  /// Redis cannot save to its disk, and refuses all writes (`MISCONF`).
  case disk
}

extension RedisReply {
  package var isRefusalForMemory: Bool {
    if case .error(let message) = self { message.hasPrefix("OOM ") } else { false }
  }

  var isRefusalForDisk: Bool {
    guard case .error(let message) = self else { return false }
    return RedisError.replied(message, to: "PING").writeRefusal == .disk
  }
}

extension RedisError {
  /// Nil if the error is another one.
  package var writeRefusal: WriteRefusal? {
    switch replyCode {
    case "OOM": .memory
    case "MISCONF": .disk
    default: nil
    }
  }

  /// The first sentence of Redis's own text, less its code. The rest tells how Redis is configured.
  package var replySentence: String {
    let text = cause.drop { $0 != " " }.dropFirst()
    return String(text.firstRange(of: ". ").map { text[..<$0.lowerBound] } ?? text)
  }
}
