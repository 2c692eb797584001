@Component({
  selector: 'a',
})
export class A extends B<C> implements D {
  private readonly go = (a: number): void => {
    this.b(a);
  };
  constructor(
    private readonly http: HttpClient,
  ) {
    super();
  }
  async find<T>(id: number): Promise<T | null> {
    return null;
  }
}
export default function (a: A): B {
  return a;
}
