import BelfryBytes
import BelfryModel

/// A value given for a setting, and the place where it was given, which refusals name.
struct ConfiguredValue: Sendable, Hashable {
  let value: JSONValue
  /// `belfry.json: limits.entriesPerSpace`, `BELFRY_LOOPS`, `--listen`.
  let place: String

  func text() throws(StartError) -> String {
    guard case .string(let text) = value else { throw refused("it must be a string") }
    guard !text.utf8.isEmpty else { throw refused("it must not be empty") }
    // The kernel and Redis would read only the part before it.
    guard !text.utf8.contains(0) else { throw refused("it must not contain a zero byte") }
    return text
  }

  /// A number of the file, or the text of a variable or an option that spells a number.
  func integer(in range: ClosedRange<Int>) throws(StartError) -> Int {
    let number: Int? =
      switch value {
      case .integer(let number): Int(exactly: number)
      case .string(let text) where isText: Int(text)
      default: nil
      }
    guard let number, range.contains(number) else {
      throw refused("it must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func flag() throws(StartError) -> Bool {
    switch value {
    case .bool(let flag): return flag
    case .string(let text) where isText && text == "true": return true  // own text
    case .string(let text) where isText && text == "false": return false  // own text
    default: throw refused("it must be true or false")
    }
  }

  /// A list of texts. A variable holds it as the file does, as JSON.
  func texts() throws(StartError) -> [String] {
    try elements(of: "strings").map { element throws(StartError) in
      guard case .string(let text) = element else { throw refused("it must be a list of strings") }
      return text
    }
  }

  /// A list of whole numbers, which may be empty. A variable holds it as the file does, as JSON.
  func integers() throws(StartError) -> [Int] {
    try elements(of: "whole numbers", mayBeNone: true).map { element throws(StartError) in
      guard case .integer(let wide) = element, let number = Int(exactly: wide) else {
        throw refused("it must be a list of whole numbers")
      }
      return number
    }
  }

  private func elements(of what: String, mayBeNone: Bool = false) throws(StartError) -> [JSONValue] {
    var list = value
    if isText, case .string(let text) = value {
      guard let parsed = try? JSONParser.value(of: Array(text.utf8)) else {
        throw refused("it must be JSON, a list of \(what)")
      }
      list = parsed
    }
    guard case .array(let elements) = list, mayBeNone || !elements.isEmpty else {
      throw refused("it must be a list of \(what)")
    }
    return elements
  }

  /// A list of objects that have no members but these. A variable holds it as the file does, as JSON.
  func objects(_ names: [String]) throws(StartError) -> [[String: ConfiguredValue]] {
    let elements = try elements(of: "objects")
    var objects: [[String: ConfiguredValue]] = []
    for (index, element) in elements.enumerated() {
      guard case .object(let members) = element else { throw refused("it must be a list of objects") }
      var object: [String: ConfiguredValue] = [:]
      for (name, value) in members {
        let given = ConfiguredValue(inFile: value, place: "\(place)[\(index)].\(name)")
        guard let known = names.first(where: { UTF8Text($0) == UTF8Text(name) }) else {
          throw StartError(.unknownKey, "there is no such setting", at: given.place)
        }
        object[known] = given
      }
      objects.append(object)
    }
    return objects
  }

  /// Does not repeat the value, which may be a secret or hold a password.
  func refused(_ cause: String) -> StartError {
    StartError(.invalidValue, cause, at: place)
  }

  /// True if the place holds only texts, as variables and options do.
  let isText: Bool
  var isOption: Bool { place.utf8.starts(with: "--".utf8) }

  init(inFile value: JSONValue, place: String) {
    self.value = value
    self.place = place
    isText = false
  }

  init(text: String, place: String) {
    value = .string(text)
    self.place = place
    isText = true
  }
}
