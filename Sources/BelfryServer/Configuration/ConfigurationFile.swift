import BelfryModel
import Foundation

/// The configuration file: one JSON object, with `//` comments.
enum ConfigurationFile {
  /// A file with every setting and its comment is a few kilobytes.
  static let sizeMaxBytes = 1 << 20

  static func read(_ path: String) throws(StartError) -> [String: GivenValue] {
    let bytes = try SmallFile.read(path, sizeMaxBytes: sizeMaxBytes)
    return try parse(bytes, path: path)
  }

  static func parse(_ bytes: [UInt8], path: String) throws(StartError) -> [String: GivenValue] {
    let text = Data(JSONComments.blankedOut(bytes))
    guard let root = try? JSONDecoder().decode(JSONValue.self, from: text) else {
      throw StartError(.malformedFile, "it is not JSON: \(complaint(about: text))", at: path)
    }
    guard case .object(let members) = root else {
      throw StartError(.malformedFile, "it must be one JSON object", at: path)
    }
    var values: [String: GivenValue] = [:]
    try collect(members, under: "", of: path, into: &values)
    return values
  }

  private static func collect(
    _ members: [String: JSONValue], under prefix: String, of path: String,
    into values: inout [String: GivenValue]
  ) throws(StartError) {
    for (name, value) in members.sorted(by: { $0.key < $1.key }) {
      let key = prefix + name
      let place = "\(path): \(key)"
      if Setting.byKey[key] != nil {
        values[key] = GivenValue(inFile: value, place: place)
      } else if prefix.isEmpty, Setting.objects.contains(name[...]) {
        guard case .object(let inner) = value else {
          throw StartError(.invalidValue, "it must be an object", at: place)
        }
        try collect(inner, under: key + ".", of: path, into: &values)
      } else {
        throw StartError(.unknownKey, "there is no such setting", at: place)
      }
    }
  }

  /// What is wrong with a text that is not JSON. On Linux the decoder does not tell and the older parser does,
  /// with an offset, which nobody can find in an editor.
  private static func complaint(about text: Data) -> String {
    do {
      _ = try JSONSerialization.jsonObject(with: text, options: .fragmentsAllowed)
      return "a number is out of range"
    } catch {
      let words = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String ?? "\(error)"
      let position = words.firstRange(of: "around character ").map { words[$0.upperBound...] }
      guard let position, let offset = Int(position.prefix { $0.isNumber }) else { return words }
      let line = text.prefix(offset).count { $0 == UInt8(ascii: "\n") } + 1
      return "\(words) (line \(line))"
    }
  }
}
