package import BelfryModel
package import BelfryStore

extension Store {
  /// The watermarks and every single mark, which no broker ever asks for at once.
  package func wholeReadState(of account: AccountID) async throws(StoreError) -> ReadState {
    var marks: [MessageID] = []
    var place: String?
    // The marks first: one that a watermark takes in meanwhile is found in one of the two.
    repeat {
      let part = try await singleMarks(of: account, after: place)
      marks += part.ids
      place = part.next
    } while place != nil
    var state = try await readStateAndPreferences(of: account).read
    state.hasUnknownMarks = false
    state.mark(marks)
    return state
  }
}
