<?php
abstract class A extends B implements C
{
    public static function make(array $x = [], ?int $y = null): static
    {
        return new static($x);
    }
    private function &foo() {
        return array_map(function ($x) {
            return $x;
        }, $this->y);
    }
}
