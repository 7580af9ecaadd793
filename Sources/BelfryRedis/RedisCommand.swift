/// A command as Redis reads it: a name and byte arguments, encoded once, when it is built. Writing it out
/// is then a copy.
package struct RedisCommand: Sendable, Hashable {
  /// For errors and logs; it is also the first argument.
  package let name: String
  private var argumentCount = 0
  /// `$<length>\r\n<bytes>\r\n` for each argument, the name included.
  private var encodedArguments: [UInt8] = []

  package init(_ name: String, _ arguments: any RedisArgument...) {
    self.name = name
    append(name)
    for argument in arguments {
      argument.append(to: &self)
    }
  }

  package mutating func append(_ argument: some RedisArgument) {
    argument.append(to: &self)
  }

  package mutating func append(contentsOf arguments: some Sequence<some RedisArgument>) {
    for argument in arguments {
      argument.append(to: &self)
    }
  }

  /// Adds one argument. Any bytes will do: the length goes first, so nothing is escaped.
  package mutating func append(bytes: some Collection<UInt8>) {
    argumentCount += 1
    encodedArguments.append(UInt8(ascii: "$"))
    encodedArguments.append(decimal: bytes.count)
    encodedArguments.append(contentsOf: bytes)
    encodedArguments.appendLineEnd()
  }
}

extension RedisCommand {
  /// The size on the wire.
  var byteCount: Int {
    encodedArguments.count + String(argumentCount).utf8.count + 3
  }

  func encode(into buffer: inout [UInt8]) {
    buffer.append(UInt8(ascii: "*"))
    buffer.append(decimal: argumentCount)
    buffer.append(contentsOf: encodedArguments)
  }
}

/// What can stand in a command. Every conforming value is exactly one argument.
package protocol RedisArgument: Sendable {
  func append(to command: inout RedisCommand)
}

extension String: RedisArgument {
  package func append(to command: inout RedisCommand) { command.append(bytes: utf8) }
}

extension [UInt8]: RedisArgument {
  package func append(to command: inout RedisCommand) { command.append(bytes: self) }
}

extension RedisArgument where Self: BinaryInteger {
  package func append(to command: inout RedisCommand) { command.append(bytes: String(self).utf8) }
}

extension Int: RedisArgument {}
extension Int64: RedisArgument {}
extension UInt64: RedisArgument {}

extension [UInt8] {
  fileprivate mutating func append(decimal value: Int) {
    append(contentsOf: String(value).utf8)
    appendLineEnd()
  }

  fileprivate mutating func appendLineEnd() {
    append(UInt8(ascii: "\r"))
    append(UInt8(ascii: "\n"))
  }
}
