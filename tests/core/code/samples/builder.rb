module A
  class B < C::D
    def self.build(x, y = 1)
      new(x).tap do |z|
        z.go
      end
    end

    private

    def run!
      raise Error, "x" unless @x
    end
  end
end
