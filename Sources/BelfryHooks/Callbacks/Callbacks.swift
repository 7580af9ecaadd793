import BelfryBytes
package import BelfryLoop
package import BelfryModel
package import BelfryOutbound
import BelfrySystem

/// The subject of a question to a callback.
package struct CallbackQuestion: Sendable {
  package enum Subject: Sendable {
    /// A notification as JSON, an object.
    case notification([UInt8])
    /// An operation: its target, and the body of the request, a JSON object. The body is empty if there was none.
    case operation(target: JSONValue, request: [UInt8])
  }

  package var event: String
  package var actor: Actor
  /// The address of the actor, as far as TCP knows it.
  package var address: String
  package var subject: Subject

  package init(_ event: String, by actor: Actor, from address: String, _ subject: Subject) {
    self.event = event
    self.actor = actor
    self.address = address
    self.subject = subject
  }

  func body(id: String, env: String, nowMilliseconds: Int64) -> [UInt8] {
    var who = JSONText()
    if let account = actor.account { who.field("accid", account.text) }
    if let device = actor.device { who.field("deviceId", device.text) }
    who.field("ip", address)
    var text = JSONText(capacity: 1_024)
    text.field("event", event)
    text.field("id", id)
    text.field("time", nowMilliseconds)
    text.field("env", env)
    text.field("actor", object: who)
    switch subject {
    case .notification(let json): text.field("notification", json: json)
    case .operation(let target, let request):
      text.field("operation", target)
      if !request.isEmpty { text.field("request", json: request) }
    }
    return text.finish()
  }
}

/// Asks callbacks before something is done. Each loop has one, on its thread. Only the request that is asked about waits.
package final class Callbacks {
  /// The size of the largest answer: all fields of a patch at their limits, with each byte in the longest form that JSON
  /// has.
  static let answerMaxBytes = 256 << 10

  private let loop: EventLoop
  private let client: OutboundClient
  private let settings: [CallbackSettings]
  /// The callbacks by env, then by event.
  private let places: [String: [String: Int]]
  private var healths: [CallbackHealth]
  /// The ids of this loop's questions: a random word that no other loop has, and a number.
  private let word = String(UInt64.random(in: .min ... .max), radix: 36)
  private var count = 0
  private let report: (Event) -> Void

  /// A change that operators should know of.
  package enum Event: Sendable, Hashable {
    /// The callback has given no usable answer, for the first time in a row.
    case fails(Callback, cause: String)
    /// The callback has failed too often, for the last time for this reason. It is not asked for a while.
    case pauses(Callback, cause: String)
    /// The first usable answer after either.
    case answersAgain(Callback)
  }

  /// A callback as operators know it. Its path and its query may have secrets in them.
  package struct Callback: Sendable, Hashable {
    package let origin: String
    package let events: [String]
    package let onFailure: CallbackSettings.OnFailure

    init(_ settings: CallbackSettings) {
      origin = settings.url.origin
      events = settings.events
      onFailure = settings.onFailure
    }
  }

  package private(set) var statistics = CallbackStatistics()

  package init(
    _ settings: [CallbackSettings], loop: EventLoop, client: OutboundClient,
    report: @escaping (Event) -> Void
  ) {
    self.settings = settings
    self.loop = loop
    self.client = client
    self.report = report
    healths = settings.map { _ in CallbackHealth() }
    var places: [String: [String: Int]] = [:]
    for (index, callback) in settings.enumerated() {
      for event in callback.events { places[callback.env, default: [:]][event] = index }
    }
    self.places = places
  }

  /// True if no callback is configured.
  package var isEmpty: Bool { settings.isEmpty }

  /// The callback to ask about an event. Nil if none is to be asked.
  ///
  /// An env for which the event has no callback counts as the default one. Otherwise a sender could avoid a callback with
  /// an env that does not exist.
  package func callback(for event: String, env: String?, by actor: Actor) -> Int? {
    if settings.isEmpty { return nil }
    let place = env.flatMap { places[$0]?[event] } ?? places[CallbackSettings.envStandard]?[event]
    guard let place, !actor.isTrusted || settings[place].asksAboutTrusted else { return nil }
    return place
  }

  /// Asks, and waits for the answer. If the callback cannot be asked, the configuration decides.
  /// - Parameter use: turns an answer into the action to take.
  /// - Throws: the refusals of `use`; `refusedByCallback` if the answer cannot be used; `busy` if too many requests wait
  ///   for the callback.
  package func ask<Made>(
    _ callback: Int, _ question: CallbackQuestion, use: (CallbackAnswer) throws(Refusal) -> Made
  ) async throws(Refusal) -> Made {
    guard healths[callback].beginQuestion(now: .now) else {
      statistics.skipped += 1
      let words = "has failed several times, and Belfry asks it again only after some seconds"
      return try withoutAnswer(callback, because: words, use)
    }
    statistics.asked += 1
    do throws(CallbackFailure) {
      let answer = try await answer(of: callback, to: question)
      let made: Made
      do throws(Refusal) {
        made = try use(answer)
      } catch {
        throw answer.isDenial ? .denied(error) : .unusable(error)
      }
      end(callback, isGood: true)
      if answer.decision == .silent { statistics.silenced += 1 } else { statistics.allowed += 1 }
      return made
    } catch {
      switch error {
      case .denied(let refusal):
        end(callback, isGood: true)
        statistics.denied += 1
        throw refusal
      // The callback is there, and others get their answers: one sender must not close it for all of them.
      case .unusable(let refusal):
        let unusable = refusal.ofUnusableAnswer
        tell(healths[callback].noteUnusable(now: .now), of: callback, unusable.detail)
        statistics.failed += 1
        throw unusable
      case .busy:
        end(callback, isGood: nil)
        throw Refusal(.busy, "too many requests are waiting for the callback that decides this; try again")
      case .useless(let words, let cause):
        statistics.failed += 1
        end(callback, isGood: false, because: cause)
        return try withoutAnswer(callback, because: words, use)
      }
    }
  }

  private enum CallbackFailure: Error {
    case denied(Refusal)
    /// The callback allows it, but its patch cannot be used.
    case unusable(Refusal)
    case busy
    /// There is no answer, or the answer contains no decision. The words continue "the callback …" for the sender, who is
    /// told no address of the network. The cause is for the log.
    case useless(String, cause: String)
  }

  private func withoutAnswer<Made>(
    _ callback: Int, because words: String, _ use: (CallbackAnswer) throws(Refusal) -> Made
  ) throws(Refusal) -> Made {
    switch settings[callback].onFailure {
    case .allow: return try use(.allow)
    case .deny:
      throw Refusal(.refusedByCallback, "the callback that decides this \(words)")
    }
  }

  private func end(_ callback: Int, isGood: Bool?, because cause: String = "") {
    tell(healths[callback].noteOutcome(isGood: isGood, now: .now), of: callback, cause)
  }

  private func tell(_ changes: [CallbackHealth.Change], of callback: Int, _ cause: String) {
    let callback = Callback(settings[callback])
    for change in changes {
      switch change {
      case .fails: report(.fails(callback, cause: cause))
      case .pauses: report(.pauses(callback, cause: cause))
      case .answersAgain: report(.answersAgain(callback))
      }
    }
  }

  private func answer(
    of callback: Int, to question: CallbackQuestion
  ) async throws(CallbackFailure) -> CallbackAnswer {
    let setting = settings[callback]
    count += 1
    let id = "cb_\(word)\(count)"
    let now = WallClock.nowMilliseconds()
    let body = question.body(id: id, env: setting.env, nowMilliseconds: now)
    let headers = WebhookHeaders(id: id, body: body, secrets: [setting.secret], nowSeconds: now / 1_000)
    let request = OutboundRequest(
      .post, setting.url, headers: headers.all + [("Content-Type", "application/json")], body: body,
      deadline: .milliseconds(setting.timeoutMilliseconds), answerMaxBytes: Self.answerMaxBytes,
      owner: question.actor.charged?.text)
    let response: OutboundResponse
    do throws(OutboundError) {
      response = try await client.send(request)
    } catch {
      switch error.code {
      // Nothing is known of the callback then. Letting the request through without asking would be a way past the callback.
      case .busy, .notBegun, .cancelled: throw .busy
      case .refusedAddress, .unreachable: throw .useless("cannot be reached", cause: error.cause)
      case .timedOut: throw .useless("did not answer in time", cause: error.cause)
      case .tooLarge: throw .useless("gave an answer that is too large", cause: error.cause)
      }
    }
    guard response.status == 200 else {
      let words = "answered with status \(response.status)"
      throw .useless(words, cause: "it \(words)")
    }
    do throws(Refusal) {
      return try CallbackAnswer(json: response.body)
    } catch {
      guard error.code != .refusedByCallback else { throw .unusable(error) }
      throw .useless(
        "gave an answer that cannot be read",
        cause: "its answer cannot be read: \(error.field ?? "it") \(error.detail)")
    }
  }
}

/// The questions of one loop to callbacks since the start.
package struct CallbackStatistics: Sendable, Hashable, Codable {
  package var asked = 0
  package var allowed = 0
  package var denied = 0
  package var silenced = 0
  /// Questions without an answer, which the configuration decides, and questions whose answer could not be used, which are
  /// refused.
  package var failed = 0
  /// Questions that were not asked, since the callback had just failed too often. The configuration decides them.
  package var skipped = 0
}

extension CallbackAnswer {
  /// True if the callback does not allow it. For an operation, silence becomes a denial.
  fileprivate var isDenial: Bool { decision != .allow }
}
