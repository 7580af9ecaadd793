import BelfryLive
import BelfryModel
import BelfryStore

/// The parameters of a stream, known before it begins.
struct StreamOpening {
  let account: AccountID
  let credential: Credential
  let device: DeviceID?
  /// The client's address, as far as the connection and trusted proxies know.
  let address: String
  let cursor: FeedCursor?
  let wantsCounts: Bool
  let expiresAtMilliseconds: Int64
}

extension StreamOpening {
  init(by caller: Caller, from address: String, after cursor: FeedCursor?, wantsCounts: Bool) throws(Refusal)
  {
    self.init(
      account: try caller.account(), credential: caller.credential, device: caller.actor.device,
      address: address, cursor: cursor, wantsCounts: wantsCounts,
      expiresAtMilliseconds: caller.expiresAtSeconds * 1_000)
  }
}

/// A consumer together with its limits, its counts and its registration, while it is open. It is the same for
/// streams and sockets.
final class OpenFeed: RegisteredStream {
  let consumer: Consumer
  let address: String
  var registered: StreamRegistry.Place
  private let place: ConnectionSlot
  private let counts: RequestCounts
  private let registry: StreamRegistry

  init(_ opening: StreamOpening, framing: any EventFraming, _ services: LoopServices) throws(Refusal) {
    place = try services.openSlot(of: opening.account, by: opening.credential)
    do throws(Refusal) {
      consumer = try services.hub.openConsumer(
        account: opening.account, device: opening.device, after: opening.cursor,
        expiresAtMilliseconds: opening.expiresAtMilliseconds, wantsCounts: opening.wantsCounts,
        framing: framing)
    } catch {
      place.close()
      throw error
    }
    address = opening.address
    (counts, registry) = (services.counts, services.streams)
    registered = StreamRegistry.Place()
    place.user = consumer
    counts.streams += 1
    registry.opened(self)
  }

  var account: AccountID { consumer.account }
  var device: DeviceID? { consumer.device }
  var isWaitingPage: Bool { false }

  func end(_ end: StreamEnd) {
    switch end {
    case .replaced(let device): consumer.kick(.replaced, by: device)
    case .ended: consumer.kick(.ended)
    }
  }

  /// Called once.
  func close() {
    counts.countClosed(consumer.kickReason)
    registry.closed(self)
    consumer.close()
    place.close()
  }
}
