package a.b;

public class Shop {
    private final int size;

    @Override
    public String toString() {
        return name;
    }

    static int count(List<Item> items) {
        return items.size();
    }
}
