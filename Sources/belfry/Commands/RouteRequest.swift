import BelfryInterface
import BelfryModel
import FoundationEssentials

/// A row's values as operands and options, and the given values as the parts of a request.
///
/// The things that a command acts on are words: first the values in the path, in its order, then the accounts
/// in the body (`group show 12`, `member remove 77 bob`, `group mute 12 bob carol`). Everything else is an
/// option.
struct RouteRequest: Sendable {
  let route: Route
  /// The command of the route that it is, if it is the one for the caller's own account.
  private let own: OwnCommand?

  init(_ route: Route, own: OwnCommand? = nil) {
    self.route = route
    self.own = own
  }

  // MARK: As a command

  var summary: String { own?.summary ?? route.summary }
  var otherNames: [String] { own == nil ? route.options.otherCommands : [] }
  var done: String? { own?.done ?? route.options.done }
  /// The words for what was done; nil if the route has none.
  func sentenceOfDone(_ answer: JSONValue?, _ parts: Parts) -> String? {
    if let (field, words) = route.options.nothingDone, case .object(let members)? = answer,
      members[field] == 0
    {
      return words
    }
    guard let done, case .object(let body)?? = parts.bodies.first else { return done }
    return body.reduce(done) { text, field in
      guard case .bool(let flag) = field.value else { return text }
      return text.replacing("{\(field.key)}", with: flag ? "on" : "off")
    }
  }
  var question: String? { own?.question ?? route.options.question }
  var isOwn: Bool { own != nil }
  var accountMayBeLeftOut: Bool { isOwn || route.options.accountMayBeLeftOut }

  /// The accounts of a body that needs some, as many as there are words.
  var named: (property: Property, most: Int)? {
    for property in route.body.shape?.properties ?? [] where property.isNeeded {
      switch property.shape {
      case .list(.account, let counts): return (property, counts.upperBound)
      case .account: return (property, 1)
      default: continue
      }
    }
    return nil
  }

  var namesMany: Bool { (named?.most ?? 0) > 1 }

  var operands: [Operand] {
    var inPath = route.pathProperties.map { Operand(name: $0.operandName, meaning: $0.meaning) }
    if let meant = meantIfLeftOut, let last = inPath.popLast() {
      inPath.append(
        Operand(name: last.name, meaning: "\(last.meaning); if left out, \(meant)", isRequired: false))
    }
    guard let named else { return inPath }
    // Their names may be in a file.
    return inPath + [
      Operand(
        name: "ACCID", meaning: named.property.meaning, isRequired: !namesMany, repeats: namesMany)
    ]
  }

  /// The meaning of a command without the last word of the path; nil if the word is needed.
  private var meantIfLeftOut: String? {
    if accountMayBeLeftOut { return "the one that the command acts for" }
    guard answersRequest else { return nil }
    return applications == nil ? "the acting account's own invitation" : "the only pending application"
  }

  var queryOptions: [Property] {
    route.queryProperties.filter { !["limit", "cursor"].contains($0.name) }
  }
  var bodyOptions: [Property] {
    (route.body.shape?.properties ?? []).filter { $0.name != named?.property.name }
  }

  var options: [CommandOption] {
    let file = CommandOption.value(
      "file", "FILE", "read accids from a file, one per line; - for standard input")
    return (queryOptions + bodyOptions).map { $0.isNeeded ? $0.option.required : $0.option }
      + (namesMany ? [file] : [])
  }

  // MARK: As a request

  /// The parts of the request.
  struct Parts {
    /// The values in the path, in its order.
    let path: [String]
    let query: [(name: String, value: String)]
    /// One body for each request; nil for a request without a body.
    let bodies: [JSONValue?]
    /// The things that it acts on, in words: `server 12, bob`; nil if nothing is named, as for the account
    /// itself.
    let place: String?
    let accountCount: Int
    fileprivate let accountsPerBody: Int

    func accountsSent(before index: Int) -> Int { min(index * accountsPerBody, accountCount) }
  }

  /// - Parameter last: the last word of the path, if the arguments leave it out.
  func parts(_ arguments: Arguments, last: String? = nil) throws -> Parts {
    let path = try checkPathWords(arguments.operands + (last.map { [$0] } ?? []))
    guard path.count == route.pathProperties.count else {
      throw UsageError("\(route.pathProperties[path.count].operandName) is needed")
    }
    let query = try queryOptions.compactMap { property in
      try arguments.text(property.commandName).map { text in
        let value = try property.value(of: text, named: "--\(property.commandName)")
        return (name: property.name, value: value.queryText ?? text)
      }
    }
    // Accounts may be separated by commas, as in the options that take several.
    var accounts = arguments.operands.dropFirst(path.count).flatMap { word in
      namesMany ? word.split(separator: ",").map { String($0.drop { $0 == " " }) } : [word]
    }
    if namesMany, let file = arguments.text("file") {
      accounts += try LinesOfFile.read(file).flatMap { line in
        try Arguments.accounts([line.text], line.place).map(\.text)
      }
    }
    return Parts(
      path: path, query: query, bodies: try bodies(arguments, accounts), place: place(path, accounts),
      accountCount: accounts.count, accountsPerBody: named?.most ?? 0)
  }

  /// The words that the path takes, each checked.
  func checkPathWords(_ words: [String]) throws -> [String] {
    try zip(route.pathProperties, words).map { property, word in
      if property.name == SharedFields.requestId.name, let accompanying, word.contains(where: \.isWhitespace)
      {
        throw UsageError(
          "\(property.operandName) must be an id or an account, not \(word)",
          suggestion: "--\(accompanying.commandName) \(ShellWord.quoted(word))")
      }
      guard !word.isEmpty else { throw UsageError("\(property.operandName) must not be empty") }
      _ = try property.value(of: word, named: property.operandName)
      return word
    }
  }

  /// The field for words to the other side; nil if the request takes none.
  private var accompanying: Property? {
    bodyOptions.first { SharedFields.accompanyingNames.contains($0.name) }
  }

  private func bodies(_ arguments: Arguments, _ accounts: [String]) throws -> [JSONValue?] {
    guard let shape = route.body.shape else { return [nil] }
    var body: JSONObject = [:]
    for property in shape.properties where property.name != named?.property.name {
      let source = "--\(property.commandName)"
      if case .list(let element, _) = property.shape {
        let words = arguments.list(property.commandName)
        guard arguments.isSet(property.commandName) else { continue }
        body[property.name] = .array(try words.map { try property.value(of: $0, as: element, named: source) })
      } else if let text = arguments.text(property.commandName) {
        body[property.name] = try property.value(of: text, named: source)
      }
    }
    try checkNeeded(body, arguments)
    guard let named else {
      if body.isEmpty, route.verb == .patch {
        let names = bodyOptions.map { "--\($0.commandName)" }.joined(separator: ", ")
        throw UsageError("there is nothing to change; give at least one of \(names)")
      }
      return [.object(body)]
    }
    let names = try Arguments.accounts(accounts, "ACCID").map { JSONValue.string($0.text) }
    guard let first = names.first else {
      throw UsageError("ACCID\(namesMany ? " or --file" : "") is needed: \(named.property.meaning)")
    }
    guard namesMany else { return [.object(body.merging([named.property.name: first]))] }
    return stride(from: 0, to: names.count, by: named.most).map { start in
      let some = names[start..<min(start + named.most, names.count)]
      return .object(body.merging([named.property.name: .array(Array(some))]))
    }
  }

  /// Refuses a body before it is sent if it lacks a field that one of its choices needs. Somebody who types `--url` for a
  /// gateway has named it as the broker: the request, with its token, must not go there.
  private func checkNeeded(_ body: JSONObject, _ arguments: Arguments) throws(UsageError) {
    for rule in route.options.needed where body[rule.field] == .string(rule.word) {
      for property in bodyOptions where rule.names.contains(property.name) && body[property.name] == nil {
        let confused = property.name == "url" && arguments.isSet("url") ? "; --url names the broker" : ""
        throw UsageError(
          "--\(property.commandName) is needed with --\(rule.field) \(rule.word): \(property.meaning)\(confused)"
        )
      }
    }
  }

  private func place(_ path: [String], _ accounts: [String]) -> String? {
    let words = zip(route.pathProperties, path).map { property, word in
      // An account also names its own invitation or application.
      let isAccount = property.name == "accid" || property.shape.bare == .account && EntityID(word) == nil
      return isAccount ? word : "\(property.commandName) \(word)"
    }
    let all = words + (accounts.count > 5 ? ["\(accounts.count) accounts"] : accounts)
    return all.isEmpty ? nil : all.joined(separator: ", ")
  }
}
