package main

type Point struct {
	X, Y int
}

func (p *Point) Norm() int {
	return p.X + p.Y
}

func main() {
	fmt.Println("hi")
}
