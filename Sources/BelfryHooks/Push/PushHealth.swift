import BelfryModel
import BelfryStore
import BelfrySystem

// The health of pushers, which their accounts are shown.
extension PushDispatcher {
  /// Keeps a failure where the account finds it, until a push is accepted. If Redis does not take it, the next failure is
  /// kept.
  func noteHealth(_ outcome: PushOutcome, of record: PusherRecord, _ account: AccountID) async {
    switch outcome {
    case .delivered:
      if record.failure != nil { _ = try? await store.endPushFailure(of: record.device, account) }
    case .failed(let cause, _, _), .refused(let cause):
      let failure = PushFailure(atMilliseconds: healthMilliseconds, cause: cause)
      var failed = record
      failed.failure = record.failure?.saysGivenUp == true ? failure.sayingGivenUp() : failure
      _ = try? await store.notePushFailure(failed, of: account)
    case .gone, .notTried: break
    }
  }

  /// Says of the pushers of these retries that pushes were given up, until a push is accepted.
  func noteGivenUp(_ texts: [String]) async {
    var devices: [AccountID: Set<DeviceID>] = [:]
    for text in texts {
      guard let task = PushTask(text: text), let device = task.device else { continue }
      devices[task.account, default: []].insert(device)
    }
    for (account, devices) in devices {
      // The statistics have counted them, even if that cannot be noted now. One at a time: the node of one account may be away.
      guard let records = try? await store.pushers(of: [account]).first else { continue }
      for record in records where devices.contains(record.device) {
        if record.failure?.saysGivenUp == true { continue }
        var failed = record
        failed.failure =
          record.failure?.sayingGivenUp()
          ?? PushFailure.ofGivenUpPushes(atMilliseconds: healthMilliseconds)
        _ = try? await store.notePushFailure(failed, of: account)
      }
    }
  }

  private var healthMilliseconds: Int64 { store.estimatedMilliseconds ?? WallClock.nowMilliseconds() }
}
