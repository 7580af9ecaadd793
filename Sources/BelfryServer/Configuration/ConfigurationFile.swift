import BelfryBytes
import BelfryModel

/// The configuration file: one JSON object, with `//` comments.
enum ConfigurationFile {
  /// A file with every setting and its comment has a few kilobytes.
  static let sizeMaxBytes = 1 << 20

  /// - Parameter refuse: called with each mistake, and also if the file cannot be read.
  static func read(
    _ path: String, else refuse: Configuration.MistakeHandler = Configuration.throwing
  ) throws(StartError) -> [UTF8Text: ConfiguredValue] {
    let bytes: [UInt8]
    do throws(StartError) {
      // A user who can write the file could name other keys, or another data folder.
      bytes = try SmallFile.read(path, sizeMaxBytes: sizeMaxBytes, openness: .readable)
    } catch {
      try refuse(error)
      return [:]
    }
    return try parse(bytes, path: path, else: refuse)
  }

  static func parse(
    _ bytes: [UInt8], path: String, else refuse: Configuration.MistakeHandler = Configuration.throwing
  ) throws(StartError) -> [UTF8Text: ConfiguredValue] {
    let text = JSONComments.blankedOut(bytes)
    let root: JSONValue
    do throws(Refusal) {
      root = try JSONParser.value(of: text)
    } catch {
      try refuse(complaint(error, about: text, of: path))
      return [:]
    }
    guard case .object(let members) = root else {
      try refuse(StartError(.malformedFile, "it must be one JSON object", at: path))
      return [:]
    }
    var values: [UTF8Text: ConfiguredValue] = [:]
    try collect(members, under: "", of: path, into: &values, else: refuse)
    return values
  }

  private static func collect(
    _ members: JSONObject, under prefix: String, of path: String,
    into values: inout [UTF8Text: ConfiguredValue], else refuse: Configuration.MistakeHandler
  ) throws(StartError) {
    for (name, value) in members {
      let key = UTF8Text(prefix + name)
      let place = "\(path): \(key)"
      if Setting.byKey[key] != nil {
        // `"limits": {"x": 1}` and `"limits.x": 2` are one setting, but two members to the parser.
        guard values[key] == nil else {
          try refuse(StartError(.invalidValue, "it occurs twice", at: place))
          continue
        }
        values[key] = ConfiguredValue(inFile: value, place: place)
      } else if prefix.isEmpty, Setting.objects.contains(key) {
        // As for a single setting.
        if value == .null { continue }
        guard case .object(let inner) = value else {
          try refuse(StartError(.invalidValue, "it must be an object", at: place))
          continue
        }
        try collect(inner, under: name + ".", of: path, into: &values, else: refuse)
      } else {
        try refuse(.unknownSetting(Setting.nearestKey(to: name, under: prefix), at: place))
      }
    }
  }

  /// The parser's refusal as an error. If the text is not JSON, the error also names the line of the byte
  /// that the parser counted.
  private static func complaint(_ refusal: Refusal, about text: [UInt8], of path: String) -> StartError {
    // `$` is the whole text, which is not to be searched for a dollar.
    let isOfAll = refusal.field?.utf8.elementsEqual("$".utf8) ?? true
    let field = isOfAll ? nil : refusal.field
    let last = refusal.detail.parts(between: " ").last
    guard let offset = last.flatMap({ Int($0) }) else {
      let place = field.map { "\(path): \($0)" } ?? path
      return StartError(.invalidValue, "it \(refusal.detail)", at: place)
    }
    let line = text.prefix(offset).count { $0 == UInt8(ascii: "\n") } + 1
    return StartError(.malformedFile, "\(field ?? "it") \(refusal.detail) (line \(line))", at: path)
  }
}
