import BelfryLoop
import BelfryModel
import BelfryStore
import Synchronization

/// The properties of a user's token that decide if it was revoked.
struct TokenIssue: Sendable, Hashable {
  let account: AccountID
  /// Nil if the token does not say. Then it counts as older than any revocation.
  let atMilliseconds: Int64?

  func isVoid(before time: Int64) -> Bool { (atMilliseconds ?? 0) < time }
}

/// The tokens that were revoked lately, as Redis had them a moment ago, so that requests are checked without
/// asking Redis.
///
/// A loop asks Redis once if a token was revoked, when the loop first sees it (``LoopServices/cleared(_:)``).
/// Later revocations reach every broker four times a second. A broker that could not ask for a second asks
/// Redis for each request.
final class Revocations: Sendable {
  static let interval: Duration = .milliseconds(250)
  static let ageMax: Duration = .seconds(1)
  /// The most accounts that are remembered. With one more all are forgotten, and Redis is asked again about
  /// each token.
  static let accountsMax = 4_096

  enum Standing: Sendable, Hashable {
    case revoked
    /// Not revoked since Redis was asked about it, if that was in this epoch.
    case notRevoked(epoch: Int)
    /// The revocations of the last second are not known.
    case unknown
  }

  private struct Content {
    var hasRead = false
    var last: String?
    var lookedAt: ContinuousClock.Instant?
    /// The number of times that everything was forgotten.
    var epoch = 0
    var recent: [AccountID: Int64] = [:]

    mutating func forget() {
      recent = [:]
      epoch += 1
    }
  }

  private let content = Mutex(Content())

  /// This is read before Redis is asked about a token. If everything is forgotten in the meantime, the answer
  /// is of no use.
  var epoch: Int { content.withLock { $0.epoch } }

  func isRevoked(_ issue: TokenIssue) -> Bool {
    content.withLock { content in content.recent[issue.account].map { issue.isVoid(before: $0) } ?? false }
  }

  func standing(of issue: TokenIssue, now: ContinuousClock.Instant) -> Standing {
    content.withLock { content in
      if let before = content.recent[issue.account], issue.isVoid(before: before) { return .revoked }
      guard let lookedAt = content.lookedAt, lookedAt.duration(to: now) <= Self.ageMax else {
        return .unknown
      }
      return .notRevoked(epoch: content.epoch)
    }
  }

  /// - Returns: the revocations since the last call.
  func refresh(from store: RedisStore) async throws(StoreError) -> RevocationNews {
    // The time before the question. Later revocations will be seen next time.
    let now = ContinuousClock.now
    let (known, hasRead) = content.withLock { ($0.last, $0.hasRead) }
    let (news, last) = try await store.revocations(since: known)
    return content.withLock { content in
      content.last = last
      content.lookedAt = max(content.lookedAt ?? now, now)
      content.hasRead = true
      // A loop may have asked about a token before this. The list does not show which revocations came after
      // that.
      guard hasRead else {
        content.forget()
        return .unknown
      }
      switch news {
      case .nothing: break
      case .unknown: content.forget()
      case .some(let revocations):
        for revocation in revocations {
          content.recent[revocation.account] = max(
            content.recent[revocation.account] ?? 0, revocation.before)
        }
        // The caller ends the streams that these revocations concern.
        if content.recent.count > Self.accountsMax {
          content.forget()
          return .unknown
        }
      }
      return news
    }
  }
}

extension Refusal {
  static let revokedToken = Refusal(
    .tokenRevoked, "the token was revoked, together with all older tokens of its account"
  )
}

extension LoopServices {
  /// True if it is known at this moment that the caller's token was not revoked. It may have been known a
  /// moment ago, before a body came or Redis answered, and may have been forgotten since.
  func isCleared(_ caller: Caller) -> Bool {
    guard let issue = caller.credential.issue else { return true }
    guard case .notRevoked(let epoch) = broker.revocations.standing(of: issue, now: loop.now) else {
      return false
    }
    return epoch == caller.clearedIn
  }

  /// Refuses a token that was revoked, and asks Redis if that is not known. A stream must be opened for the
  /// caller before anything else is awaited. Then every later revocation finds the stream.
  /// - Returns: the caller, with the result of the check.
  func cleared(_ caller: Caller) async throws(Refusal) -> Caller {
    guard let issue = caller.credential.issue, !isCleared(caller) else { return caller }
    var epoch: Int
    repeat {
      epoch = broker.revocations.epoch
      try await refuseIfRevoked(caller.credential)
      if broker.revocations.isRevoked(issue) { throw .revokedToken }
    } while epoch != broker.revocations.epoch
    if let token = caller.revocableToken { tokens.clear(token, in: epoch) }
    return caller.cleared(in: epoch)
  }

  /// Asks Redis, and refuses a revoked token.
  func refuseIfRevoked(_ credential: Credential) async throws(Refusal) {
    guard let issue = credential.issue else { return }
    let found = try await reading { () async throws(StoreError) in
      try await administration.revocations(of: [issue.account])[0]
    }
    if let found, issue.isVoid(before: found) { throw .revokedToken }
  }

  /// Ends all streams and waiting requests whose tokens were revoked. It is for the case that the revoked
  /// tokens are not known one by one. It tries until Redis answers.
  func endRevokedOfAll() async {
    repeat {
      let accounts = Array(Set(slots.credentials.compactMap { $0.issue?.account }))
      let asked = await broker.failures.watch("endRevoked", on: loop.name) {
        try await administration.revocations(of: accounts)
      }
      guard let found = asked else { continue }
      let revoked = Dictionary(uniqueKeysWithValues: zip(accounts, found))
      return slots.endAll { credential in
        guard let issue = credential.issue, let before = revoked[issue.account] ?? nil else { return false }
        return issue.isVoid(before: before)
      }
    } while (try? await loop.sleep(for: Revocations.interval)) != nil
  }
}
