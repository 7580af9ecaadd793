package import BelfryModel
import BelfryStore

/// A task of push for one account.
package struct PushTask: Sendable, Hashable {
  package enum Subject: Sendable, Hashable {
    /// To push a notification. The space is the one that it was appended to.
    case notification(MessageID, SpaceID)
    /// To correct the number of unread notifications.
    case badge
  }

  package var subject: Subject
  package var account: AccountID
  /// Nil means all devices of the account.
  package var device: DeviceID?
  /// How often the task has failed.
  package var attempts: Int

  package init(_ subject: Subject, for account: AccountID, device: DeviceID? = nil, attempts: Int = 0) {
    self.subject = subject
    self.account = account
    self.device = device
    self.attempts = attempts
  }

  /// The same task for one device, due at once.
  func now(on device: DeviceID) -> DuePush {
    DuePush(
      text: PushTask(subject, for: account, device: device, attempts: attempts).text, dueAtMilliseconds: 0)
  }

  /// The same task for one device, after one more failure.
  func failed(on device: DeviceID) -> PushTask {
    PushTask(subject, for: account, device: device, attempts: attempts + 1)
  }
}

extension PushTask {
  /// A correction. It is delayed, so that several at the same time become one.
  static func correction(of account: AccountID, afterMilliseconds time: Int64) -> DuePush {
    DuePush(
      text: PushTask(.badge, for: account).text,
      dueAtMilliseconds: time + Int64(PushDispatcher.badgeDelay / .milliseconds(1)))
  }
}

// MARK: - As it is kept

extension PushTask {
  private static let allDevices = "*"

  package var text: String {
    let rest = "\(account.text) \(device?.text ?? Self.allDevices) \(attempts)"
    return switch subject {
    case .notification(let id, let space): "push \(space.key) \(id.text) \(rest)"
    case .badge: "badge \(rest)"
    }
  }

  /// Nil if the text is not one that this code writes.
  package init?(text: String) {
    var words = text.split(separator: " ", omittingEmptySubsequences: false).map { String($0) }[...]
    switch words.popFirst() {
    case "push":
      guard let space = words.popFirst().flatMap({ SpaceID(key: $0) }),
        let id = words.popFirst().flatMap({ MessageID($0) })
      else { return nil }
      subject = .notification(id, space)
    case "badge": subject = .badge
    default: return nil
    }
    guard words.count == 3, let account = AccountID(words[words.startIndex]),
      let attempts = Int(words[words.startIndex + 2]), attempts >= 0
    else { return nil }
    let name = words[words.startIndex + 1]
    device = name == Self.allDevices ? nil : DeviceID(name)
    guard device != nil || name == Self.allDevices else { return nil }
    self.account = account
    self.attempts = attempts
  }
}
