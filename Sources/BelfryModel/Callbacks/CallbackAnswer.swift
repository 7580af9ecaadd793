/// The answer of a callback that was asked about an act of an account before it is done.
package struct CallbackAnswer: Sendable, Hashable {
  package enum Decision: Sendable, Hashable {
    case allow
    /// The act is refused, with the callback's words to the sender.
    case deny(CallbackDenial)
    /// The act is done as far as the sender can tell, and nobody receives it.
    case silent
  }

  package var decision: Decision
  /// The value that the notification carries as `callbackExt`.
  package var callbackExt: String?
  /// The fields that replace the sender's.
  package var patch = ContentPatch()

  package static let allow = CallbackAnswer(.allow)

  package init(_ decision: Decision) { self.decision = decision }
}

/// A callback's words to a caller that is refused.
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

  static let names = ["body", "ext", "attach", "pushContent", "pushPayload"]

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
  /// Reads an answer. Unknown fields next to `patch` are ignored, so that a callback may answer more than this broker knows.
  /// - Throws: `invalidField`, for the log: the decision cannot be read. `refusedByCallback`: the act is
  ///   allowed, but the change that the callback asks for cannot be used.
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
      // The answer stays a denial, even if its words cannot be used.
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
    // A misspelled name would let the sender's own words through.
    if let unknown = patched.keys.sorted().first(where: { !ContentPatch.names.contains($0) }) {
      throw .invalid("patch", "can change \(ContentPatch.names.joined(separator: ", ")), but not \(unknown)")
    }
    let changes = CallbackFields(patched)
    patch = ContentPatch(
      body: try changes.text("body"), ext: try changes.text("ext"), attach: changes["attach"],
      pushContent: try changes.text("pushContent"),
      pushPayload: try changes["pushPayload"].map(NotificationContent.pushPayload))
  }
}

extension Refusal {
  /// The refusal for a caller whose act was allowed with a change that cannot be made. The act is not done
  /// without the change either, since the callback did not allow that.
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

  /// A null counts as absent.
  subscript(_ name: String) -> JSONValue? {
    guard let value = members[name], value != .null else { return nil }
    return value
  }

  func text(_ name: String) throws(Refusal) -> String? {
    guard let value = self[name] else { return nil }
    guard case .string(let text) = value else { throw .invalid(name, "must be a string") }
    return text
  }

  /// A text, or a number written as one. Part of a word would be another word, so a longer one is left out.
  var code: String? {
    if case .integer(let number)? = self["code"] { return String(number) }
    guard case .string(let text)? = self["code"], (1...CallbackDenial.codeBytes).contains(text.utf8.count)
    else { return nil }
    return text
  }

  /// The text, cut to the size that is allowed.
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

// MARK: - The effect on a send and on an update

extension SendNotification {
  /// The send with the callback's changes. Its sender's own content is kept, by which a repetition is
  /// recognised.
  /// - Throws: `refusedByCallback`; also if a patch breaks a limit.
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
  /// The update with the callback's changes; nil if nobody is to receive it.
  /// - Throws: `refusedByCallback`; also if a patch breaks a limit, or changes a field that no update
  ///   changes.
  package func following(_ answer: CallbackAnswer) throws(Refusal) -> UpdateNotification? {
    switch answer.decision {
    case .deny(let denial): throw denial.refusal
    case .silent: return nil
    case .allow:
      var patch = answer.patch
      (patch.body, patch.ext) = (nil, nil)
      do throws(Refusal) {
        guard patch.isEmpty else {
          throw .invalid("patch", "must change only body and ext, because the request is an update")
        }
        return try UpdateNotification(
          entry, in: space, by: actor, body: answer.patch.body ?? body, ext: answer.patch.ext ?? ext,
          status: status)
      } catch {
        throw error.ofUnusableAnswer
      }
    }
  }
}
