import BelfryInterface
import BelfryModel
import BelfryServer
import FoundationEssentials

/// What a route asks for, as operands and options; and what was given, as the parts of a request.
struct RouteRequest: Sendable {
  let route: Route

  init(_ route: Route) { self.route = route }

  // MARK: As a command

  /// The accounts of a body, as many as there are words.
  private var named: Property? {
    route.body.shape?.properties.first { property in
      if case .list(.account, _) = property.shape { property.isNeeded } else { false }
    }
  }

  /// What stands last in the path, if nothing comes after it.
  private var target: Property? {
    guard named == nil, route.path.description.hasSuffix("}") else { return nil }
    return route.pathProperties.last
  }

  var operands: [Operand] {
    if let named { return [Operand(name: "ACCID", meaning: named.meaning, repeats: true)] }
    return target.map { [Operand(name: $0.commandName.uppercased(), meaning: $0.meaning)] } ?? []
  }

  private var pathOptions: [Property] { route.pathProperties.filter { $0.name != target?.name } }
  private var queryOptions: [Property] {
    route.queryProperties.filter { !["limit", "cursor"].contains($0.name) }
  }
  private var bodyOptions: [Property] {
    (route.body.shape?.properties ?? []).filter { $0.name != named?.name }
  }

  var options: [CommandOption] {
    (pathOptions + queryOptions + bodyOptions).map { property in
      let isNeeded = property.isNeeded || pathOptions.contains { $0.name == property.name }
      return isNeeded ? property.option.required : property.option
    }
  }

  var example: String {
    let needed = options.filter(\.isRequired)
    let words = (pathOptions + queryOptions + bodyOptions).filter { property in
      needed.contains { $0.name == property.commandName }
    }.map { "--\($0.commandName) \($0.shape.exampleWord)" }
    let operand = named.map { _ in ["bob", "carol"] } ?? target.map { [$0.shape.exampleWord] } ?? []
    return ([route.name] + operand + words).joined(separator: " ")
  }

  // MARK: As a request

  func parts(
    _ arguments: Arguments
  ) throws -> (path: String, query: [(name: String, value: String)], body: JSONValue?) {
    var path = route.path.description
    for property in route.pathProperties {
      let text =
        property.name == target?.name ? arguments.operands.first : arguments.text(property.commandName)
      guard let value = try text.map({ try property.value(of: $0) }), case .string(let word) = value else {
        throw UsageError("\(property.commandName) is needed")
      }
      path = path.replacing("{\(property.name)}", with: word)
    }
    let query = queryOptions.compactMap { property in
      arguments.text(property.commandName).map { (name: property.name, value: $0) }
    }
    guard let shape = route.body.shape else { return (path, query, nil) }
    var body: JSONObject = [:]
    for property in shape.properties {
      if property.name == named?.name {
        body[property.name] = .array(try arguments.accountOperands("ACCID").map { .string($0.text) })
      } else if case .list = property.shape {
        let words = arguments.list(property.commandName)
        if !words.isEmpty { body[property.name] = .array(try words.map { try property.value(of: $0) }) }
      } else if let text = arguments.text(property.commandName) {
        body[property.name] = try property.value(of: text)
      }
    }
    return (path, query, .object(body))
  }
}

extension Property {
  /// `durationSeconds` is `--duration-seconds`; what is in a path is named without its `Id`.
  fileprivate var commandName: String {
    let word = Self.renamed[name] ?? (name.hasSuffix("Id") ? String(name.dropLast(2)) : name)
    return word.reduce(into: "") { text, character in
      if character.isUppercase { text.append("-") }
      text.append(character.lowercased())
    }
  }

  /// Every command has `--url` and `--token` for the broker and for who asks.
  private static let renamed = ["url": "link", "token": "invitation", "ttlSeconds": "ttl"]

  fileprivate var option: CommandOption {
    switch shape.bare {
    case .flag: .choice(commandName, ["true", "false"], meaning)
    case .words(let words): .choice(commandName, words, meaning)
    case .numbers(let numbers): .choice(commandName, numbers.map { "\($0)" }, meaning)
    case .list: .list(commandName, shape.placeholder, meaning)
    default: .value(commandName, shape.placeholder, meaning)
    }
  }

  /// One word as the wire has it.
  fileprivate func value(of text: String) throws(UsageError) -> JSONValue {
    switch shape.bare {
    case .account:
      guard AccountID(text) != nil else { throw refused("letters, digits and _ . @ -", text) }
    case .id:
      guard EntityID(text) != nil else { throw refused("an id: digits, as the broker gave them", text) }
    case .message:
      guard MessageID(text) != nil else {
        throw refused("a message id: digits, as the broker gave them", text)
      }
    case .flag: return .bool(text == "true")
    case .integer, .numbers, .time:
      guard let number = Int64(text) else { throw refused("a whole number", text) }
      return .integer(number)
    case .object, .json, .jsonObject, .map:
      guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) else {
        throw refused("JSON; text needs its quotes, as in '\"text\"'", text)
      }
      return value
    default: break
    }
    return .string(text)
  }

  private func refused(_ rule: String, _ text: String) -> UsageError {
    // A key is no word for a screen or a log.
    let given = BackEndKey.isOne(text) ? "a key itself" : text
    return UsageError("\(commandName) must be \(rule), not \(given)")
  }
}

extension Shape {
  fileprivate var placeholder: String {
    switch bare {
    case .account: "ACCID"
    case .device, .id, .message: "ID"
    case .integer, .time: "N"
    case .list(let element, _): element.placeholder
    case .object, .json, .jsonObject, .map: "JSON"
    default: "TEXT"
    }
  }

  /// Something that could stand there.
  fileprivate var exampleWord: String {
    switch bare {
    case .account: "bob"
    case .device: "phone"
    case .id: "12"
    case .message: "309237645312"
    case .flag: "true"
    case .integer(let ranges): "\(max(ranges.last?.lowerBound ?? 60, 60))"
    case .time: "1763700000000"
    case .words(let words): words.first ?? "word"
    case .numbers(let numbers): "\(numbers.first ?? 0)"
    case .list(let element, _): element.exampleWord
    case .object, .json, .jsonObject, .map: "{}"
    default: "text"
    }
  }
}
