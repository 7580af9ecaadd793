/// Why the store could not do what it was asked to.
package struct StoreError: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// The store cannot be reached or cannot work right now; see also ``StoreError/mayBeDone``.
    case unavailable
    /// The store's memory is full. Nothing was done; what frees memory goes on.
    case memoryFull
    /// The store refuses to write, since it cannot save to its disk. Nothing was done; reading goes on.
    case diskFull
    /// The store does not let this program do it. Only somebody who changes the program's rights can help.
    case accessRefused
    /// A part of the partition is missing: it is at another node of a cluster, or its node came back empty. Nothing was done.
    case incomplete
    /// A record or an entry is not what it should be.
    case corrupt
    /// The page cursor was not made by this store.
    case badCursor
  }

  package var code: Code
  package var detail: String
  /// The operation that failed, such as `commit server:77`.
  package var place: String
  /// Whether it was a write that may have been carried out. Doing it again with the same `messageClientId` is safe.
  package var mayBeDone = false
  /// True if the store did not answer, or answered that it serves nobody yet. False if it refused just this.
  package var isStoreAway = false

  package init(_ code: Code, _ detail: String, at place: String) {
    self.code = code
    self.detail = detail
    self.place = place
  }

  /// Whether the same may be done later without a change of what was asked for: the store is away, or has no room.
  package var isOfStoreAlone: Bool {
    switch code {
    case .unavailable, .memoryFull, .diskFull, .accessRefused, .incomplete: true
    case .corrupt, .badCursor: false
    }
  }

  package var description: String { "\(code.rawValue) at \(place): \(detail)" }
}
