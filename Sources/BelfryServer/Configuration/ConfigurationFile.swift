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
    let root: JSONValue
    do {
      root = try JSONDecoder().decode(JSONValue.self, from: Data(JSONComments.blankedOut(bytes)))
    } catch {
      throw StartError(.malformedFile, "it is not JSON: \(reason(of: error))", at: path)
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

  /// Foundation's own words name the line and the column, one level down.
  private static func reason(of error: any Error) -> String {
    guard case DecodingError.dataCorrupted(let context) = error else { return "\(error)" }
    let detail = (context.underlyingError as NSError?)?.userInfo[NSDebugDescriptionErrorKey] as? String
    return detail ?? context.debugDescription
  }
}
