/// What a callback answered when it was asked about something that somebody is about to do.
package struct CallbackAnswer: Sendable, Hashable {
  package enum Decision: Sendable, Hashable {
    case allow
    /// Refused, with what the callback wants the sender to know.
    case deny(CallbackDenial)
    /// Done as far as the sender can tell, and received by nobody.
    case silent
  }

  package var decision: Decision
  /// What the notification carries as `callbackExt`.
  package var callbackExt: String?
  /// What takes the place of the sender's.
  package var patch = ContentPatch()

  package static let allow = CallbackAnswer(.allow)

  package init(_ decision: Decision) { self.decision = decision }
}

/// A callback's words to who is refused.
package struct CallbackDenial: Sendable, Hashable {
  package static let codeBytes = 64
  package static let detailBytes = 1_024

  /// A word or a number of the callback's own.
  package var code: String?
  package var detail: String?

  package init(code: String? = nil, detail: String? = nil) {
    self.code = code
    self.detail = detail
  }

  package var refusal: Refusal {
    var refusal = Refusal(.refusedByCallback, detail ?? "a callback of this service refused the request")
    refusal.callbackCode = code
    return refusal
  }
}

/// Fields of a notification that a callback may change; nil leaves one as it is.
package struct ContentPatch: Sendable, Hashable {
  package var body: String?
  package var ext: String?
  package var attach: JSONValue?
  package var pushContent: String?
  package var pushPayload: JSONValue?

  package var isEmpty: Bool { self == ContentPatch() }

  func applied(to content: NotificationContent) -> NotificationContent {
    var content = content
    if let body { content.body = body }
    if let ext { content.ext = ext }
    if let attach { content.attach = attach }
    if let pushContent { content.pushContent = pushContent }
    if let pushPayload { content.pushPayload = pushPayload }
    return content
  }
}

// MARK: - Reading

extension CallbackAnswer {
  /// What is not known is passed over, so that a callback may answer more than this broker knows.
  /// - Throws: `invalidField`, for the log: nobody can tell what was decided. `refusedByCallback`: it is allowed, but what
  ///   it is to be changed to cannot be used.
  package init(json: [UInt8]) throws(Refusal) {
    guard case .object(let members) = try JSONParser.value(of: json) else {
      throw .invalid("$", "must be an object")
    }
    let fields = CallbackFields(members)
    switch try fields.text("decision") {
    case "allow"?: self.init(.allow)
    case "silent"?:
      self.init(.silent)
      return
    case "deny"?:
      // It stays a denial, whatever is wrong with its words.
      self.init(.deny(CallbackDenial(code: fields.code, detail: fields.detail)))
      return
    default: throw .invalid("decision", "must be allow, deny or silent")
    }
    do throws(Refusal) {
      try readChanges(fields)
    } catch {
      throw error.ofUnusableAnswer
    }
  }

  private mutating func readChanges(_ fields: CallbackFields) throws(Refusal) {
    callbackExt = try fields.text("callbackExt")
    try NotificationContent.check(callbackExt, "callbackExt", bytes: 0...Limits.callbackExtBytes)
    guard let value = fields["patch"] else { return }
    guard case .object(let patched) = value else { throw .invalid("patch", "must be an object") }
    let changes = CallbackFields(patched)
    patch = ContentPatch(
      body: try changes.text("body"), ext: try changes.text("ext"), attach: changes["attach"],
      pushContent: try changes.text("pushContent"),
      pushPayload: try changes["pushPayload"].map(NotificationContent.pushPayload))
  }
}

extension Refusal {
  /// As told to whom a callback allowed something that cannot be done as it says: what it was asked about is not done
  /// either, since that is not what it allowed.
  package var ofUnusableAnswer: Refusal {
    code == .refusedByCallback
      ? self
      : Refusal(
        .refusedByCallback,
        "the callback that decides this gave an unusable answer: \(field ?? "it") \(detail)")
  }
}

private struct CallbackFields {
  private let members: JSONObject

  init(_ members: JSONObject) { self.members = members }

  /// What is null is not there.
  subscript(_ name: String) -> JSONValue? {
    guard let value = members[name], value != .null else { return nil }
    return value
  }

  func text(_ name: String) throws(Refusal) -> String? {
    guard let value = self[name] else { return nil }
    guard case .string(let text) = value else { throw .invalid(name, "must be a text") }
    return text
  }

  /// A text, or a number written as one. Part of a word would be another word, so a longer one is left out.
  var code: String? {
    if case .integer(let number)? = self["code"] { return String(number) }
    guard case .string(let text)? = self["code"], (1...CallbackDenial.codeBytes).contains(text.utf8.count)
    else { return nil }
    return text
  }

  /// As much of it as there is room for.
  var detail: String? {
    guard case .string(let text)? = self["detail"], !text.isEmpty else { return nil }
    if text.utf8.count <= CallbackDenial.detailBytes { return text }
    var bytes = 0
    let kept = text.unicodeScalars.prefix { scalar in
      bytes += UTF8.width(scalar)
      return bytes <= CallbackDenial.detailBytes
    }
    return String(kept)
  }
}

// MARK: - What becomes of a send and of an update

extension SendNotification {
  /// The send as the callback would have it, to be recognised when it is repeated by what its sender gave.
  /// - Throws: `refusedByCallback`; also when a patch breaks a limit.
  package func following(_ answer: CallbackAnswer) throws(Refusal) -> SendNotification {
    var changed = answer.patch.applied(to: content)
    changed.callbackExt = answer.callbackExt ?? content.callbackExt
    switch answer.decision {
    case .deny(let denial): throw denial.refusal
    case .allow:
      if changed == content { return self }
      do throws(Refusal) {
        try changed.checkLimits()
      } catch {
        throw error.ofUnusableAnswer
      }
      return SendNotification(self, content: changed, isSilenced: false)
    case .silent: return SendNotification(self, content: content, isSilenced: true)
    }
  }
}

extension UpdateNotification {
  /// The update as the callback would have it; nil where nobody is to receive it.
  /// - Throws: `refusedByCallback`; also when a patch breaks a limit, or changes what no update changes.
  package func following(_ answer: CallbackAnswer) throws(Refusal) -> UpdateNotification? {
    switch answer.decision {
    case .deny(let denial): throw denial.refusal
    case .silent: return nil
    case .allow:
      var patch = answer.patch
      (patch.body, patch.ext) = (nil, nil)
      do throws(Refusal) {
        guard patch.isEmpty else { throw .invalid("patch", "of an update changes body and ext only") }
        return try UpdateNotification(
          entry, in: space, by: actor, body: answer.patch.body ?? body, ext: answer.patch.ext ?? ext,
          status: status)
      } catch {
        throw error.ofUnusableAnswer
      }
    }
  }
}
