// What the fragments of docs/client.md leave to their reader.
let myToken = ""
let server = EntityID("1")!
let channel = EntityID("2")!
let lastCursor: String? = nil
func show(_ notification: BelfryClient.Notification) {}
func replace(_ notification: BelfryClient.Notification) {}
func save(_ cursor: String) {}
func badge(_ unread: Int) {}
func hide(_ ids: [MessageID]) {}
func hideAll(upTo id: MessageID) {}
func warn(_ text: String) {}
func refresh(_ event: JSONValue) {}
