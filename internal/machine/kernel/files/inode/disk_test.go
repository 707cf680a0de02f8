package inode

import "testing"

func TestDisk(t *testing.T) {
	a, b := Key{Dev: 1, Ino: 1}, Key{Dev: 1, Ino: 2}
	d := Disk{Limit: 10 * diskBlock}
	d.Write(a, 1) // a block
	d.Write(a, diskBlock-1)
	if d.Used() != diskBlock || d.Left() != 9*diskBlock || d.Fits(9*diskBlock) || !d.Fits(8*diskBlock) {
		t.Errorf("%d used", d.Used())
	}
	d.Keep(b, 4*diskBlock, true)
	if d.Missing(b, 4*diskBlock) != 0 || d.Missing(b, 5*diskBlock) != diskBlock || d.Used() != 5*diskBlock {
		t.Errorf("%d used", d.Used())
	}
	for range 20 { // over and over
		d.Write(a, diskBlock)
	}
	if d.Left() != 0 {
		t.Errorf("%d left", d.Left())
	}
	sizes := map[Key]int64{a: 2*diskBlock - 5, b: 0}
	size := func(k Key) (int64, bool) { n, ok := sizes[k]; return n, ok }
	if d.Settle(size); d.Used() != 6*diskBlock { // b keeps what is reserved beyond its end
		t.Errorf("%d used", d.Used())
	}
	delete(sizes, b)
	if d.Settle(size); d.Used() != 2*diskBlock {
		t.Errorf("%d used", d.Used())
	}
}
