package money

import (
	"cmp"
	"math/big"
	"math/bits"
	"slices"
)

// Allocate splits total in proportion to the weights and returns one part for each: every part is rounded towards
// zero, and the units this leaves over go one each to the largest remainders, ties to the lower index. The parts always
// add up to total, which may be negative. A weight below zero counts as zero; if all are zero, the split is into equal
// parts. Without weights there is nothing to give to, and the result is empty.
func Allocate(total int64, weights []int64) []int64 {
	if len(weights) == 0 {
		return nil
	}
	size := uint64(total)
	if total < 0 {
		size = -size
	}
	sum := sumOf(weights)
	if sum == (wide{}) {
		return Allocate(total, slices.Repeat([]int64{1}, len(weights)))
	}
	parts, rests, left := make([]int64, len(weights)), make([]rest, len(weights)), size
	for i, w := range weights {
		part, remainder := portion(size, uint64(max(w, 0)), sum)
		parts[i], rests[i] = int64(part), rest{remainder, i}
		left -= part
	}
	slices.SortFunc(rests, byRemainder)
	for _, r := range rests[:left] {
		parts[r.index]++
	}
	if total < 0 {
		for i := range parts {
			parts[i] = -parts[i]
		}
	}
	return parts
}

// wide is an unsigned number of 128 bits.
type wide struct{ high, low uint64 }

// rest is what rounding took from the part at an index.
type rest struct {
	remainder wide
	index     int
}

func byRemainder(a, b rest) int {
	return cmp.Or(cmp.Compare(b.remainder.high, a.remainder.high), cmp.Compare(b.remainder.low, a.remainder.low),
		cmp.Compare(a.index, b.index))
}

func sumOf(weights []int64) (sum wide) {
	for _, w := range weights {
		var carry uint64
		sum.low, carry = bits.Add64(sum.low, uint64(max(w, 0)), 0)
		sum.high += carry
	}
	return sum
}

// portion returns size × weight ÷ sum, which is at most size, and the remainder.
func portion(size, weight uint64, sum wide) (uint64, wide) {
	high, low := bits.Mul64(size, weight)
	if sum.high == 0 {
		part, remainder := bits.Div64(high, low, sum.low)
		return part, wide{0, remainder}
	}
	part, remainder := new(big.Int).QuoRem(wide{high, low}.big(), sum.big(), new(big.Int))
	lower := new(big.Int).And(remainder, new(big.Int).SetUint64(1<<64-1))
	return part.Uint64(), wide{remainder.Rsh(remainder, 64).Uint64(), lower.Uint64()}
}

func (w wide) big() *big.Int {
	n := new(big.Int).SetUint64(w.high)
	return n.Add(n.Lsh(n, 64), new(big.Int).SetUint64(w.low))
}
