import BelfryInterface
import BelfryModel

// Finds the account that a command is about, or the invitation or application that it answers, if its words name none.

extension RouteRequest {
  /// True if the last word of the path names an invitation or an application.
  var answersRequest: Bool { route.pathProperties.last?.name == SharedFields.requestId.name }

  /// The route that lists the applications; nil for an answer to an invitation.
  var applications: Route? {
    let path = route.path.description
    guard path.contains("/applications/") else { return nil }
    let list = path.split(separator: "/{\(SharedFields.requestId.name)}").first ?? ""
    return Routes.all.first { $0.verb == .get && $0.path.description == list }
  }

  /// The last word of the path if it is left out: the account that acts, or the only pending application. The account
  /// also names its own invitation. Nil if nothing was left out.
  func wordLeftOut(by invocation: Invocation) async throws -> String? {
    let words = invocation.arguments.operands
    guard words.count == route.pathProperties.count - 1, accountMayBeLeftOut || answersRequest else {
      return nil
    }
    if let applications, !accountMayBeLeftOut {
      return try await onlyRequest(listedBy: applications, checkPathWords(words), of: invocation)
    }
    if let account = invocation.actingAccount { return account }
    let name = route.pathProperties.last?.operandName ?? ""
    throw UsageError(
      "\(name) or --as is needed: the token names no account",
      suggestion: answersRequest ? "--as ACCID, the invited account" : "--as ACCID")
  }

  /// - Returns: the applicant, which names its application and is told when the command is done, or the application's id.
  private func onlyRequest(
    listedBy applications: Route, _ path: [String], of invocation: Invocation
  ) async throws -> String {
    let client = try invocation.client()
    var pending: [JSONObject] = []
    var cursor: String?
    repeat {
      var query: [(name: String, value: String)] = [("limit", "100")]
      if let cursor { query.append(("cursor", cursor)) }
      let answer = try await client.perform(applications, path, query: query)
      guard case .object(let page)? = answer else { break }
      if case .array(let requests)? = page["requests"] {
        pending += requests.compactMap { if case .object(let request) = $0 { request } else { nil } }
      }
      let before = cursor
      if case .string(let next)? = page["cursor"], next != before { cursor = next } else { cursor = nil }
    } while cursor != nil && pending.count < 2
    return try requireOnlyRequest(
      of: pending, listedBy: "\(applications.command ?? "") \(path.joined(separator: " "))")
  }

  private func requireOnlyRequest(of pending: [JSONObject], listedBy command: String) throws -> String {
    guard let first = pending.first, case .string(let id)? = first["requestId"],
      case .string(let applicant)? = first["accid"]
    else {
      throw CommandFailure(code: "notFound", detail: "no application is pending")
    }
    guard pending.count == 1 else {
      throw UsageError(
        "several applications are pending: REQUEST must name one", suggestion: "belfry \(command) lists them")
    }
    // The server would read a name of digits as an id.
    return applicant.allSatisfy(\.isNumber) ? id : applicant
  }
}
