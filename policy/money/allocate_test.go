package money_test

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"testing"

	"countersign/policy/money"

	"github.com/google/go-cmp/cmp"
)

func TestAllocate(t *testing.T) {
	const huge = math.MaxInt64
	for _, c := range []struct {
		name    string
		total   int64
		weights []int64
		want    []int64
	}{
		{"even", 100, []int64{1, 1}, []int64{50, 50}},
		{"tie goes to the lower index", 100, []int64{1, 1, 1}, []int64{34, 33, 33}},
		{"two left over", 101, []int64{1, 1, 1}, []int64{34, 34, 33}},
		{"largest remainder", 100, []int64{1, 5}, []int64{17, 83}},
		{"remainder beats index", 10, []int64{1, 1, 5}, []int64{2, 1, 7}},
		{"weight zero gets nothing", 100, []int64{0, 3, 0}, []int64{0, 100, 0}},
		{"all zero: equal parts", 100, []int64{0, 0, 0}, []int64{34, 33, 33}},
		{"below zero counts as zero", 100, []int64{-5, 1}, []int64{0, 100}},
		{"one", 7, []int64{3}, []int64{7}},
		{"nothing to split", 0, []int64{1, 2}, []int64{0, 0}},
		{"less than there are parts", 2, []int64{1, 1, 1}, []int64{1, 1, 0}},
		{"negative", -100, []int64{1, 1, 1}, []int64{-34, -33, -33}},
		{"no weights", 100, nil, nil},
		{"big products", huge, []int64{huge, huge, huge}, []int64{huge/3 + 1, huge / 3, huge / 3}},
		{"weights that carry more than once", 800, slices.Repeat([]int64{huge}, 8), slices.Repeat([]int64{100}, 8)},
		{"smallest total", math.MinInt64, []int64{1}, []int64{math.MinInt64}},
		{"smallest total in two", math.MinInt64, []int64{1, 1}, []int64{math.MinInt64 / 2, math.MinInt64 / 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, money.Allocate(c.total, c.weights)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzAllocate reads the weights from bytes, eight each, and checks the sum and that every part is within one unit of
// its exact share.
func FuzzAllocate(f *testing.F) {
	f.Add(int64(100), []byte{1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0})
	f.Add(int64(math.MinInt64), []byte("\xff\xff\xff\xff\xff\xff\xff\x7f\xff\xff\xff\xff\xff\xff\xff\x7f\xff\xff\xff\xff\xff\xff\xff\x7f"))
	f.Add(int64(7), make([]byte, 24))
	f.Fuzz(func(t *testing.T, total int64, data []byte) {
		data = data[:min(len(data), 512)]
		weights, sum := readWeights(data)
		if len(weights) == 0 {
			return
		}
		got, given := money.Allocate(total, weights), new(big.Int)
		if len(got) != len(weights) {
			t.Fatalf("%d parts for %d weights", len(got), len(weights))
		}
		for i, part := range got {
			given.Add(given, big.NewInt(part))
			if sum.Sign() == 0 {
				continue
			}
			// |part × sum − total × weight| < sum
			off := new(big.Int).Mul(big.NewInt(part), sum)
			off.Sub(off, new(big.Int).Mul(big.NewInt(total), big.NewInt(weights[i])))
			if off.CmpAbs(sum) >= 0 {
				t.Fatalf("part %d of Allocate(%d, %v) is %d: off by a unit or more", i, total, weights, part)
			}
		}
		if given.Cmp(big.NewInt(total)) != 0 {
			t.Fatalf("Allocate(%d, %v) = %v, which adds up to %s", total, weights, got, given)
		}
	})
}

func readWeights(data []byte) ([]int64, *big.Int) {
	var weights []int64
	sum := new(big.Int)
	for ; len(data) >= 8; data = data[8:] {
		w := int64(binary.LittleEndian.Uint64(data) >> 1)
		weights, sum = append(weights, w), sum.Add(sum, big.NewInt(w))
	}
	return weights, sum
}
