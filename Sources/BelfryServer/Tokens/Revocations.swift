import BelfryLoop
import BelfryModel
import BelfryStore
import Synchronization

/// What of a user's token decides whether it was revoked.
struct TokenIssue: Sendable, Hashable {
  let account: AccountID
  /// Nil where the token does not say: then it is older than any revocation.
  let atMilliseconds: Int64?

  func isVoid(before time: Int64) -> Bool { (atMilliseconds ?? 0) < time }
}

/// Which tokens were revoked lately, as Redis had it a moment ago, so that requests are checked without asking Redis.
///
/// Whether a token was revoked is asked once, when a loop first sees it (``LoopServices/cleared(_:)``). What is revoked
/// afterwards every broker hears of four times a second. A broker that could not ask for a second asks for each request.
final class Revocations: Sendable {
  static let interval: Duration = .milliseconds(250)
  static let ageMax: Duration = .seconds(1)
  /// Accounts remembered. With one more all are forgotten, and each token is asked about anew.
  static let accountsMax = 4_096

  enum Standing: Sendable, Hashable {
    case revoked
    /// Not revoked since it was asked about, if that was in this epoch.
    case notRevoked(epoch: Int)
    /// It is not known what was revoked in the last second.
    case unknown
  }

  private struct Content {
    var hasRead = false
    var last: String?
    var lookedAt: ContinuousClock.Instant?
    /// How often everything was forgotten.
    var epoch = 0
    var recent: [AccountID: Int64] = [:]

    mutating func forget() {
      recent = [:]
      epoch += 1
    }
  }

  private let content = Mutex(Content())

  /// Read before a token is asked about: if all is forgotten meanwhile, the answer is of no use.
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

  /// - Returns: what was revoked since it was last called.
  func refresh(from store: RedisStore) async throws(StoreError) -> RevocationNews {
    // From before it was asked: what is revoked since will be seen next time.
    let now = ContinuousClock.now
    let (known, hasRead) = content.withLock { ($0.last, $0.hasRead) }
    let (news, last) = try await store.revocations(since: known)
    return content.withLock { content in
      content.last = last
      content.lookedAt = max(content.lookedAt ?? now, now)
      content.hasRead = true
      // A loop may have asked about a token before, and what was revoked since is not told apart from what was before.
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
        // Whoever calls this ends what they revoke by it.
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
  /// Whether it is known at this moment that the caller's token was not revoked. It may have been known a moment ago, before
  /// a body came or Redis answered, and all that was known have been forgotten since.
  func isCleared(_ caller: Caller) -> Bool {
    guard let issue = caller.credential.issue else { return true }
    guard case .notRevoked(let epoch) = broker.revocations.standing(of: issue, now: loop.now) else {
      return false
    }
    return epoch == caller.clearedIn
  }

  /// Refuses a token that was revoked, and asks Redis where that is not known. What is opened for the caller before anything
  /// else is awaited is found by whatever is revoked from then on.
  /// - Returns: the caller, of whom it is known.
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

  /// Asks Redis.
  func refuseIfRevoked(_ credential: Credential) async throws(Refusal) {
    guard let issue = credential.issue else { return }
    let found = try await reading { () async throws(StoreError) in
      try await administration.revocations(of: [issue.account])[0]
    }
    if let found, issue.isVoid(before: found) { throw .revokedToken }
  }

  /// Ends all streams and waiting requests whose tokens were revoked, where it is not known which tokens were. Tries
  /// until Redis answers.
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
