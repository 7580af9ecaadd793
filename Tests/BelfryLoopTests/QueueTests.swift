import BelfryLoop
import Testing

@Suite struct QueueTests {
  @Test func itKeepsTheOrderWhileItWrapsAndGrows() {
    var queue = Queue<Int>()
    #expect(queue.first == nil)
    #expect(queue.popFirst() == nil)
    var next = 0
    var expected = 0
    // Mostly more come than go, so that it grows with its head in the middle; now and then it is emptied.
    for round in 0..<1_000 {
      for _ in 0..<(round * 7) % 13 {
        queue.append(next)
        next += 1
      }
      for _ in 0..<(round % 100 == 99 ? .max : (round * 5) % 11) {
        guard let value = queue.popFirst() else { break }
        #expect(value == expected)
        expected += 1
      }
      #expect(queue.count == next - expected)
      #expect(queue.first == (expected < next ? expected : nil))
    }
    for _ in 0..<3 { queue.append(next) }
    #expect(Array(queue) == [next, next, next])
    #expect(queue.takeAll() == [next, next, next])
    #expect(queue.isEmpty)
  }
}
