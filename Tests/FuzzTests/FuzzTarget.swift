import BelfryModel
import ModelSamples
import TestKit
import Testing

/// One decoder that is fed with what is nearly right.
struct FuzzTarget: Sendable, CustomTestStringConvertible {
  var name: String
  /// A valid input.
  var sample: @Sendable (inout SeededGenerator) -> [UInt8]
  /// Decodes. Says whether the input was taken for valid; throws when what was made of it is wrong. It must
  /// come back in any case.
  var decode: @Sendable ([UInt8]) throws -> Bool

  var testDescription: String { name }

  init(
    _ name: String, sample: @escaping @Sendable (inout SeededGenerator) -> [UInt8],
    decode: @escaping @Sendable ([UInt8]) throws -> Bool
  ) {
    self.name = name
    self.sample = sample
    self.decode = decode
  }
}

extension FuzzTarget {
  /// A row for each decoder of what comes from outside. New ones go into the list of their layer.
  static let all: [FuzzTarget] = model + store + edges + browsers + requests + push + sockets + tls
}

/// The result of decoding an input is wrong.
struct Wrong: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

extension FuzzTarget {
  /// A decoder of text that has an encoder: what it takes for valid must, written and read again, be the
  /// same. Two spellings of one value that read differently would be two values to some and one to others.
  static func text<Value: Equatable & SendableMetatype>(
    _ name: String, _ sample: @escaping @Sendable (inout SeededGenerator) -> Value,
    read: @escaping @Sendable (String) -> Value?, write: @escaping @Sendable (Value) throws -> String
  ) -> FuzzTarget {
    FuzzTarget(name) { random in
      Array(((try? write(sample(&random))) ?? "").utf8)
    } decode: { bytes in
      guard let value = read(String(decoding: bytes, as: UTF8.self)) else { return false }
      let text = try write(value)
      guard read(text) == value else { throw Wrong("\(value) is written \(text), which reads otherwise") }
      return true
    }
  }

  /// A value that records and logs hold as JSON.
  static func json<Value: Codable & Equatable & SendableMetatype>(
    _ name: String, _ sample: @escaping @Sendable (inout SeededGenerator) -> Value
  ) -> FuzzTarget {
    text(name, sample) {
      RecordJSON.value(Value.self, $0)
    } write: {
      try RecordJSON.text($0)
    }
  }
}
