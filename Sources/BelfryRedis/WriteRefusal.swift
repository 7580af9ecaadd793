/// Why Redis refuses writes although it answers.
package enum WriteRefusal: String, Sendable, Hashable, CaseIterable {
  /// Redis is at `maxmemory`, and refuses what may need more of it (`OOM`).
  case memory
  /// Redis cannot save to its disk, and refuses all writes (`MISCONF`).
  case disk
  /// This program's user in Redis lacks the right to a command, perhaps to one within a function. Reads may be refused, too.
  case rights
}

extension RedisReply {
  /// Nil if the reply is no error, or another one.
  package var writeRefusal: (WriteRefusal, cause: String)? {
    guard case .error(let message) = self else { return nil }
    return RedisError.replied(message, to: "").writeRefusal.map { ($0, message) }
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
    case "NOPERM", "NOAUTH": .rights
    case "ERR" where isRefusedWithinFunction: .rights
    default: nil
    }
  }

  /// True if a function ended at a command for which this program's user lacks the right.
  package var isRefusedWithinFunction: Bool { cause.contains("The user executing the script can't") }

  /// The first sentence of Redis's own text, less its code. The rest tells how Redis is configured.
  package var replySentence: String {
    let text = cause.drop { $0 != " " }.dropFirst()
    return String(text.firstRange(of: ". ").map { text[..<$0.lowerBound] } ?? text)
  }
}
