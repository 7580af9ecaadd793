import BelfryModel
import ModelSamples
import Testing

struct ReadStateTests {
  @Test func theWatermarkCoversItselfAndAllBelow() {
    var state = ReadState(watermark: 10)
    #expect(state.contains(10) && state.contains(.zero) && !state.contains(11))
    state.mark([5, 12])
    #expect(state.above == [12])
  }

  @Test func theWatermarkNeverGoesBack() {
    var state = ReadState(watermark: 10, above: [12, 20])
    state.raise(to: 9)
    #expect(state == ReadState(watermark: 10, above: [12, 20]))
    state.raise(to: 12)
    #expect(state == ReadState(watermark: 12, above: [20]))
  }
}
